import type { Context } from 'koa';

import { findActiveOperator } from '../../access/operators.ts';
import { sessionCookie, sessionOf, type Site } from '../../access/users/identify.ts';
import { createSession, endSession } from '../../access/users/sessions.ts';
import type { User } from '../../access/users/users.ts';
import type { Limits } from '../../http/limits.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KeyRing } from '../../lib/crypto.ts';
import type { Database } from '../../lib/db.ts';
import type { Logger } from '../../lib/log.ts';
import type { RunInTransaction } from '../../outbox/record.ts';

export type PageDeps = {
  db: Database;
  runInTransaction: RunInTransaction;
  clock: Clock;
  limits: Limits;
  keyRing: KeyRing;
  pepper: string;
  log: Logger;
  /** Whether everybody may read the mails: of a local installation. */
  showsMail: boolean;
  /** The addresses of what the pages load first, which browsers load while a person signs in. */
  prefetched: readonly string[];
  /** Where keys call the API. */
  apiUrl: string;
  site: Site;
};

export const SIGN_IN_PATH = '/sign-in';

/** The sign-in, which leads on to a path of this site. */
export const signInPath = (next: string): string => `${SIGN_IN_PATH}?${new URLSearchParams({ next }).toString()}`;

/** Whether a person may sign in here: at the console, active operators. */
export async function mayEnter({ db, site }: Pick<PageDeps, 'db' | 'site'>, { email }: User): Promise<boolean> {
  return site.audience === 'portal' || (await findActiveOperator(db, email)) !== undefined;
}

/** Begins a session with a new token, which ends the browser's previous one, and sets its cookie. */
export async function beginSession(
  deps: PageDeps,
  ctx: Context,
  { id: userId, stepUpAt = null }: { id: string; stepUpAt?: Date | null },
): Promise<void> {
  const { site, clock, runInTransaction } = deps;
  const at = clock();
  const previous = await sessionOf(deps, ctx);
  const device = ctx.get('user-agent');
  const { token } = await runInTransaction(async ({ trx }) => {
    if (previous) await endSession(trx, previous, at);
    return createSession(trx, { userId, audience: site.audience, address: ctx.ip, device, stepUpAt, at });
  });
  const secure = site.url.startsWith('https:') ? '; Secure' : '';
  ctx.append('Set-Cookie', `${sessionCookie(site)}=${token}; Path=/; HttpOnly; SameSite=Lax${secure}`);
}

const NOWHERE = 'http://nowhere.invalid';

/** A path of this site with its query, `/` for anything else: nobody is sent to another site after the sign-in. */
export function localPath(value: unknown): string {
  if (typeof value !== 'string' || !value.startsWith('/') || !URL.canParse(value, NOWHERE)) return '/';
  const { origin, pathname, search } = new URL(value, NOWHERE);
  return origin === NOWHERE && !pathname.startsWith('//') ? pathname + search : '/';
}

/** Redirects after a form, so that reloading sends nothing again. */
export function seeOther(ctx: Context, path: string): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.redirect(path);
  ctx.status = 303;
}

/** Answers a reader of a page that only a form leads to: with the sign-in, which it belongs to. */
export const startAgain = (ctx: Context): void => seeOther(ctx, signInPath(localPath(ctx.query['next'])));
