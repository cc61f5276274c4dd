import { createContext, useContext, useEffect, useRef, type ReactNode } from 'react';

import { environment } from './environment.ts';
import { text } from './frame-text.ts';

/** Whose pages these are, for the titles of tabs. */
export const Owner = createContext('');

type Props = { title: string; actions?: ReactNode; children: ReactNode };

/** Whether the document has shown a screen before: its first one leaves the focus at the beginning. */
let hasShown = false;

/** A screen: its heading, which is also the tab's title, its buttons, and its content. */
export function Page({ title, actions, children }: Props) {
  const owner = useContext(Owner);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // What led here is gone, such as the window of the search.
    if (hasShown && document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
    hasShown = true;
  }, []);
  return (
    <>
      <title>{`${title} · ${environment === 'live' ? text.live : text.test} · ${owner}`}</title>
      <header className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h1 ref={heading} tabIndex={-1} className="text-xl font-semibold">
          {title}
        </h1>
        <div className="flex flex-wrap items-start gap-2">{actions}</div>
      </header>
      {children}
    </>
  );
}
