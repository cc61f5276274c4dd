let isLeaving = false;
addEventListener('pageshow', () => (isLeaving = false));

/** Once: what else the page reads meanwhile is refused too, and must not lead elsewhere. */
function leaveFor(address: string): void {
  if (!isLeaving) location.assign(address);
  isLeaving = true;
}

/** Signs the person out, and leads to the sign-in page. What the page reads meanwhile is refused, and leads nowhere. */
export async function leaveBy(signOut: () => Promise<unknown>): Promise<void> {
  isLeaving = true;
  await signOut().finally(() => (isLeaving = false));
  sessionStorage.clear();
  leaveFor('/sign-in');
}

const STORED_OF = 'meskot.person';

/** Removes what another person has left in this tab, whose session has ended without a sign-out. */
export function keepOnlyOf(email: string): void {
  if (sessionStorage.getItem(STORED_OF) === email) return;
  sessionStorage.clear();
  sessionStorage.setItem(STORED_OF, email);
}

/** The fields that the person has typed in, or has chosen something in. */
const typed = new WeakSet<EventTarget>();
addEventListener('input', ({ target }) => void (target && typed.add(target)), { capture: true, passive: true });

/** Whether leaving the page would lose something: what was typed, or an open window, which may show a secret. */
const wouldLose = (): boolean =>
  document.querySelector('dialog:modal') !== null ||
  [...document.querySelectorAll('input, select, textarea')].some((field) => typed.has(field));

let isEnded = false;
const listeners = new Set<() => void>();

function setEnded(next: boolean): void {
  isEnded = next;
  for (const listener of listeners) listener();
}

/** Calls the listener when the session ends while the page has to stay, and when there is one again. */
export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether the session has ended, and the page waits for the person to sign in elsewhere. */
export const isSessionEnded = (): boolean => isEnded;

/**
 * Asks to sign in elsewhere, where leaving would lose something; else leads to the sign-in page, and from there back here.
 */
export function onSessionEnded(): void {
  if (isLeaving || isEnded) return;
  if (wouldLose()) setEnded(true);
  else leaveFor(`/sign-in?ended=true&next=${encodeURIComponent(location.pathname + location.search)}`);
}

/** The person has signed in again. */
export const onSignedIn = (): void => setEnded(false);

/** Resolves once there is a session again; never, if the page is left for the sign-in page. */
export function untilSignedIn(): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = subscribe(() => {
      if (isEnded) return;
      unsubscribe();
      resolve();
    });
  });
}
