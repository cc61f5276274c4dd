import { setTimeout as sleep } from 'node:timers/promises';

import { generateSync } from 'otplib';

import { beginTwoFactor, confirmTwoFactor, SEALED_TOTP_SECRETS } from '../../access/users/totp.ts';
import { findUser, findUserByEmail } from '../../access/users/users.ts';
import type { Config } from '../../config.ts';
import { systemClock } from '../../lib/clock.ts';
import { decrypt, type KeyRing } from '../../lib/crypto.ts';
import type { Database, Queryable } from '../../lib/db.ts';
import { invalidState } from '../../lib/errors.ts';
import { DEMO_OPERATORS, DEMO_PEOPLE } from './demo.ts';

const STEP_MS = 30_000;

/** Gives each demo operator an authenticator app, so that the console can be tried without a phone. Idempotent. */
export async function ensureAuthenticators(db: Database, keyRing: KeyRing): Promise<void> {
  for (const { email } of DEMO_OPERATORS) {
    const found = await findUserByEmail(db, email);
    if (!found || found.totpEnabledAt !== null) continue;
    await db.transaction(async (trx) => {
      const { secret } = await beginTwoFactor(trx, keyRing, found.id);
      const user = await findUser(trx, found.id);
      await confirmTwoFactor(trx, keyRing, { user, code: generateSync({ secret }), at: systemClock() });
    });
  }
}

/**
 * The next unused code of the authenticator app of a demo person, as soon as it counts, which a code does once, and from 30 s
 * before its time. Throws INVALID_STATE for anybody else, for one who has no app, and in production.
 */
export async function nextCode(
  db: Queryable,
  { keyRing, production }: Pick<Config, 'keyRing' | 'production'>,
  email: string = DEMO_OPERATORS[0].email,
): Promise<string> {
  if (production) throw invalidState('Codes are for local use: MESKOT_MODE=production rejects it.');
  const names = [...DEMO_OPERATORS, ...DEMO_PEOPLE].map((one) => one.email);
  if (!names.includes(email)) throw invalidState(`"${email}" is no demo person: take one of ${names.join(', ')}.`);
  const user = await findUserByEmail(db, email);
  if (!user?.totpSecret) {
    throw invalidState(`${email} has no authenticator app: sign in, set one up under "Security", and run this again.`);
  }
  const secret = decrypt(keyRing, SEALED_TOTP_SECRETS.scopeOf([user.id]), user.totpSecret);
  const startsAt = Math.max(Date.now(), (Number(user.totpLastStep ?? 0) + 1) * STEP_MS);
  await sleep(Math.max(0, startsAt - STEP_MS - Date.now()));
  return generateSync({ secret, epoch: Math.floor(startsAt / 1_000) });
}
