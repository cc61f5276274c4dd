import { useSyncExternalStore } from 'react';

const SHOWN_MS = 5_000;

let shown: readonly { id: number; message: string }[] = [];
const listeners = new Set<() => void>();

function show(next: typeof shown): void {
  shown = next;
  for (const listener of listeners) listener();
}

let lastId = 0;

/** Shows a sentence about what was just done, for 5 s. */
export function toast(message: string): void {
  lastId += 1;
  const id = lastId;
  show([...shown, { id, message }]);
  setTimeout(() => show(shown.filter((one) => one.id !== id)), SHOWN_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The place where toasts appear; once on a page. */
export function Toasts() {
  const messages = useSyncExternalStore(subscribe, () => shown);
  return (
    <div role="status" className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col items-center gap-2">
      {messages.map(({ id, message }) => (
        <p key={id} className="rounded-md bg-ink px-4 py-2 text-ground shadow-raised">
          {message}
        </p>
      ))}
    </div>
  );
}
