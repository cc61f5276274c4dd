import { createContext, useContext, type ReactNode } from 'react';

import { environment } from './environment.ts';
import { text } from './frame-text.ts';

/** Whose pages these are, for the titles of tabs. */
export const Owner = createContext('');

type Props = { title: string; actions?: ReactNode; children: ReactNode };

/** A screen: its heading, which is also the tab's title, its buttons, and its content. */
export function Page({ title, actions, children }: Props) {
  const owner = useContext(Owner);
  return (
    <>
      <title>{`${title} · ${environment === 'live' ? text.live : text.test} · ${owner}`}</title>
      <header className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h1 tabIndex={-1} className="text-xl font-semibold">
          {title}
        </h1>
        <div className="flex flex-wrap items-start gap-2">{actions}</div>
      </header>
      {children}
    </>
  );
}
