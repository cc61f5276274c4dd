import { randomBytes } from 'node:crypto';

import type { MemberRole } from '../../http/people.ts';
import { sha256 } from '../../lib/crypto.ts';
import { DAY_MS, HOUR_MS } from '../../lib/dates.ts';
import { first, insertRow, rows, type Queryable, type Trx } from '../../lib/db.ts';
import { deleteInBatches } from '../../lib/delete-in-batches.ts';
import { newId } from '../../lib/ids.ts';
import type { InvitedKey } from '../api-keys.ts';

const TOKEN_BYTES = 32;
const LIFETIMES_MS = {
  'second-factor': HOUR_MS / 6,
  'console-second-factor': HOUR_MS / 6,
  invitation: 3 * DAY_MS,
  'operator-invitation': 3 * DAY_MS,
  reset: HOUR_MS,
  'sign-up': DAY_MS,
  passkey: HOUR_MS / 6,
  'new-passkey': HOUR_MS / 6,
  key: 3 * DAY_MS,
};

type Purpose = keyof typeof LIFETIMES_MS;

/** A row of `user_token`, without its hash. */
export type UserToken = {
  id: string;
  purpose: Purpose;
  userId: string | null;
  email: string | null;
  merchantId: string | null;
  role: MemberRole | null;
  details: { name: string; businessName: string } | null;
  /** Of an invitation to create a key: whose it is, or what a merchant's is. */
  operatorId: string | null;
  key: InvitedKey | null;
  createdBy: string | null;
  expiresAt: Date;
  usedAt: Date | null;
  revokedAt: Date | null;
  createdAt: Date;
};

type NewToken = Pick<UserToken, 'purpose'> &
  Partial<Omit<UserToken, 'id' | 'purpose' | 'expiresAt' | 'usedAt' | 'revokedAt' | 'createdAt'>>;

/** Creates a token that can be used once, for as long as its purpose allows. The table stores a hash of it. */
export async function createToken(trx: Trx, token: NewToken, at: Date): Promise<{ row: UserToken; token: string }> {
  const isOfKey = token.purpose === 'key';
  const text = (isOfKey ? 'invite_' : '') + randomBytes(TOKEN_BYTES).toString('base64url');
  const row = await insertRow<UserToken>(trx, 'user_token', {
    id: newId(isOfKey ? 'inv' : 'utk', at.getTime()),
    ...token,
    tokenHash: sha256(text),
    expiresAt: new Date(at.getTime() + LIFETIMES_MS[token.purpose]),
    createdAt: at,
  });
  return { row, token: text };
}

const USABLE = `purpose = :purpose AND token_hash = :hash AND used_at IS NULL AND revoked_at IS NULL AND expires_at > :at`;

type Presented = { purpose: Purpose; token: string; at: Date };

/** The token if it can be used; null for any other text. */
export async function findToken(db: Queryable, { purpose, token, at }: Presented): Promise<UserToken | null> {
  const sql = `SELECT * FROM user_token WHERE ${USABLE}`;
  return (await first<UserToken>(db, sql, { purpose, hash: sha256(token), at })) ?? null;
}

/** The same, and uses it: of several at once, one gets it. */
export async function useToken(trx: Trx, { purpose, token, at }: Presented): Promise<UserToken | null> {
  const sql = `UPDATE user_token SET used_at = :at WHERE ${USABLE} RETURNING *`;
  return (await first<UserToken>(trx, sql, { purpose, hash: sha256(token), at })) ?? null;
}

/** Ends the reset links and half sign-ins of a user that were not used: with a new password they open nothing. */
export async function revokeTokens(trx: Trx, userId: string, at: Date): Promise<void> {
  const sql = `UPDATE user_token SET revoked_at = :at WHERE user_id = :userId AND used_at IS NULL AND revoked_at IS NULL`;
  await rows(trx, sql, { userId, at });
}

/** Deletes the tokens that were used, revoked or expired more than 30 days ago; returns how many. For a periodic job. */
export async function deleteOldTokens(db: Queryable, stopping?: AbortSignal): Promise<number> {
  const where = "least(used_at, revoked_at, expires_at) < now() - interval '30 days'";
  return deleteInBatches(db, { table: 'user_token', where }, stopping);
}
