type Question = { answer: (isAccepted: boolean) => void };

/** The question that is open; one at a time. */
let open: (Question & { result: Promise<boolean> }) | null = null;
const listeners = new Set<() => void>();

function change(next: typeof open): void {
  open = next;
  for (const listener of listeners) listener();
}

/** Opens the dialog for a code of the authenticator app. Resolves whether one was accepted. */
export function askForCode(): Promise<boolean> {
  if (open) return open.result;
  let settle: (isAccepted: boolean) => void = () => {};
  const result = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  const answer = (isAccepted: boolean): void => {
    change(null);
    settle(isAccepted);
  };
  change({ answer, result });
  return result;
}

/** Calls the listener when a question opens or closes. */
export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The open question; null: none. */
export const openQuestion = (): Question | null => open;
