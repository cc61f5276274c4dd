import type { ReactNode } from 'react';

import { environment } from './environment.ts';
import { text } from './frame-text.ts';

/** `owner`: whose pages these are. */
type Props = { title: string; owner: string; actions?: ReactNode; children: ReactNode };

/** A screen: its heading, which is also the tab's title, its buttons, and its content. */
export function Page({ title, owner, actions, children }: Props) {
  return (
    <>
      <title>{`${title} · ${environment === 'live' ? text.live : text.test} · ${owner}`}</title>
      <header className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h1 className="text-xl font-semibold">{title}</h1>
        <div className="flex flex-wrap gap-2">{actions}</div>
      </header>
      {children}
    </>
  );
}
