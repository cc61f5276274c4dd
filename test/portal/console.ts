import { randomBytes } from 'node:crypto';

import { generateSync } from 'otplib';

import { createOperator } from '../../src/access/operators.ts';
import { createUser } from '../../src/access/users/users.ts';
import type { OperatorRole } from '../../src/http/route.ts';
import type { Database } from '../../src/lib/db.ts';
import { openBrowser, PASSWORD, type Browser, type PortalResponse } from './portal.ts';

/** A code of the app, `steps` of 30 s from now. */
export const codeOf = (secret: string, steps = 0): string =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1_000) + steps * 30 });

/** The token of a form. */
export const tokenOf = ({ text }: PortalResponse): string => /name="token" value="([^"]+)"/.exec(text)?.[1] ?? '';

/** The secret that the page shows on which an authenticator app is set up. */
export const secretOf = ({ text }: PortalResponse): string =>
  (/<pre>([A-Z2-7 ]+)<\/pre>/.exec(text)?.[1] ?? '').replaceAll(' ', '');

/** Creates an operator with an account. */
export async function addOperator(db: Database, role: OperatorRole): Promise<{ operatorId: string; email: string }> {
  const about = { name: `The ${role}`, email: `${role}-${randomBytes(4).toString('hex')}@meskot.example` };
  return db.transaction(async (trx) => {
    const { id: operatorId } = await createOperator(trx, { ...about, role });
    await createUser(trx, { ...about, password: PASSWORD });
    return { operatorId, email: about.email };
  });
}

/** Sets up an authenticator app on the page that a sign-in without one leads to. */
export async function enrol(browser: Browser, page: PortalResponse) {
  const secret = secretOf(page);
  const done = await browser.post('/two-factor/set-up', { token: tokenOf(page), code: codeOf(secret), next: '/' });
  return { secret, done };
}

/** An operator who has signed in to the console with a new authenticator app, and has just entered a code. */
export type SignedInOperator = Browser & { operatorId: string; email: string; secret: string };

export async function signInOperator(
  { db, consoleUrl }: { db: Database; consoleUrl: string },
  role: OperatorRole,
): Promise<SignedInOperator> {
  const operator = await addOperator(db, role);
  const browser = openBrowser(consoleUrl);
  const { secret } = await enrol(browser, await browser.signIn(operator.email));
  return { ...browser, ...operator, secret };
}
