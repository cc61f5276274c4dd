import type { ReactNode } from 'react';

import { environment } from './environment.ts';
import { useMember } from './member.ts';
import { text } from './text.ts';

type Props = { title: string; actions?: ReactNode; children: ReactNode };

/** A screen: its heading, which is also the tab's title, its buttons, and its content. */
export function Page({ title, actions, children }: Props) {
  const { merchant } = useMember();
  return (
    <>
      <title>{`${title} · ${environment === 'live' ? text.live : text.test} · ${merchant.name}`}</title>
      <header className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h1 className="text-xl font-semibold">{title}</h1>
        <div className="flex flex-wrap gap-2">{actions}</div>
      </header>
      {children}
    </>
  );
}
