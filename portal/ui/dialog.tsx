import { useEffect, useId, useRef, type ReactNode, type SyntheticEvent } from 'react';

import { focusHeading, IconButton, placeOf } from './button.tsx';
import { text } from './text.ts';

type Props = { title: ReactNode; onClose: () => void; children: ReactNode };

function Head({ id, title, onClose }: { id: string; title: ReactNode; onClose: () => void }) {
  return (
    <header className="flex items-start justify-between gap-2 border-b border-line py-2 ps-4 pe-2">
      <h2 id={id} tabIndex={-1} autoFocus className="min-w-0 py-1.5 text-base leading-snug font-semibold">
        {title}
      </h2>
      <IconButton icon="close" label={text.close} onClick={onClose} />
    </header>
  );
}

/** React hands the end of a window also to the panel that it was opened in. */
const isOwn = ({ target, currentTarget }: SyntheticEvent): boolean => target === currentTarget;

/** The focus returns to what has opened a window; to the heading of its place, if it is gone or disabled. */
function focusAgain(opener: Element | null, place: Element | null): void {
  if (opener instanceof HTMLElement) opener.focus({ preventScroll: true });
  if (document.activeElement !== opener) focusHeading(place);
}

/** Where a person types: in the first field of a form, or in that of a search. */
const FIRST_FIELD = 'form :is(input:not([type=radio]), input:checked, select, textarea), [role=combobox]';

/** A window that must be answered before the page goes on. It opens with the focus in its first field, else at its heading. */
export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const focused = useRef<Element>(null);
  const titleId = useId();
  useEffect(() => {
    const opener = document.activeElement;
    const place = placeOf(opener);
    dialog.current?.showModal();
    dialog.current?.querySelector<HTMLElement>(FIRST_FIELD)?.focus({ preventScroll: true });
    return () => focusAgain(opener, place);
  }, []);
  useEffect(() => {
    // What had the focus is gone or disabled, such as the button of a form in whose place its result is.
    const last = focused.current;
    const isLost = last !== null && (!last.isConnected || last.matches(':disabled'));
    if (isLost && document.activeElement === document.body) focusHeading(dialog.current);
  });
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onClose={(event) => isOwn(event) && onClose()}
      onFocus={({ target }) => (focused.current = target)}
      className="m-auto max-h-[92dvh] w-[min(34rem,calc(100vw-1rem))] scroll-pb-20 overflow-auto text-start whitespace-normal rounded-xl border border-line bg-surface shadow-raised"
    >
      <Head id={titleId} title={title} onClose={() => dialog.current?.close()} />
      <div className="flex flex-col gap-4 p-4">{children}</div>
    </dialog>
  );
}

const WIDE = '(width >= 64rem)';

/** A panel at the right, beside the list that it belongs to; on a narrow screen it covers the page. Esc closes it. */
export function Drawer({ title, onClose, children }: Props) {
  const drawer = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const element = drawer.current;
    const opener = document.activeElement;
    const place = placeOf(opener);
    if (matchMedia(WIDE).matches) element?.show();
    else element?.showModal();
    // What is to be done next, where that is clear.
    element?.querySelector<HTMLElement>('[data-next]')?.focus({ preventScroll: true });
    return () => focusAgain(opener, place);
  }, []);
  return (
    <dialog
      ref={drawer}
      aria-labelledby={titleId}
      onClose={(event) => isOwn(event) && onClose()}
      onKeyDown={(event) => {
        // A window in front of it, which is inside of it, closes first.
        const isInFront = event.target instanceof Element && event.target.closest('dialog') !== drawer.current;
        if (event.key === 'Escape' && !isInFront && !event.defaultPrevented) onClose();
      }}
      className="fixed top-0 right-0 bottom-0 left-auto z-20 m-0 h-dvh max-h-none w-screen max-w-none overflow-auto border-s border-line bg-surface shadow-raised sm:w-[34rem] lg:top-(--frame-height) lg:h-[calc(100dvh-var(--frame-height))]"
    >
      <Head id={titleId} title={title} onClose={onClose} />
      <div className="flex flex-col gap-5 p-4">{children}</div>
    </dialog>
  );
}
