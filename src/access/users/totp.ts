import { randomBytes } from 'node:crypto';

import { generateSecret, generateURI, verifySync } from 'otplib';

import { decrypt, encrypt, sha256, type KeyRing } from '../../lib/crypto.ts';
import { first, insertRow, rows, updateRow, type Queryable, type Trx } from '../../lib/db.ts';
import { AppError, invalidState } from '../../lib/errors.ts';
import type { SealedTable } from '../../lib/reencrypt.ts';
import type { RunInTransaction, UnitOfWork } from '../../outbox/record.ts';
import { removePasskeys } from './passkeys.ts';
import type { User } from './users.ts';

/** A code of the time step before or after counts too: clocks differ. */
const TOLERANCE_SECONDS = 30;
const RECOVERY_CODES = 10;
const RECOVERY_CODE_BYTES = 10;
const FAILED_CHECKS_MAX = 5;
const LOCKED_MS = 15 * 60_000;

const scopeOf = (userId: string): string => `totp/${userId}`;

/** The table of encrypted secrets. */
export const SEALED_TOTP_SECRETS: SealedTable = {
  table: 'user_account',
  key: ['id'],
  columns: ['totpSecret'],
  scopeOf: ([id = '']) => scopeOf(id),
};

/** Generates a secret for the person's app, which counts once a code of it was entered. Throws INVALID_STATE. */
export async function beginTwoFactor(trx: Trx, keyRing: KeyRing, userId: string) {
  const secret = generateSecret();
  const sql = `UPDATE user_account SET totp_secret = :sealed, totp_last_step = NULL WHERE id = :userId
               AND totp_enabled_at IS NULL RETURNING email`;
  const found = await first<{ email: string }>(trx, sql, { userId, sealed: encrypt(keyRing, scopeOf(userId), secret) });
  if (!found) throw invalidState('Two-factor authentication is on. Turn it off before you set up another app.');
  return { secret, uri: generateURI({ issuer: 'Meskot', label: found.email, secret }) };
}

/** Whether a code of the app is right; accepts each code once. */
async function acceptCode(trx: Trx, keyRing: KeyRing, { user, code }: { user: User; code: string }) {
  const { id, totpSecret, totpLastStep } = user;
  const digits = code.replaceAll(/\s/g, '');
  if (totpSecret === null || !/^\d{6}$/.test(digits)) return false;
  const secret = decrypt(keyRing, scopeOf(id), totpSecret);
  const result = verifySync({ secret, token: digits, epochTolerance: TOLERANCE_SECONDS });
  if (!result.valid || !('timeStep' in result)) return false;
  const step = BigInt(result.timeStep);
  if (totpLastStep !== null && step <= totpLastStep) return false;
  await updateRow(trx, { table: 'user_account', id }, { totpLastStep: step });
  return true;
}

/** Whether an app's code or an unused recovery code is right; uses it. */
export async function acceptSecondFactor(trx: Trx, keyRing: KeyRing, of: { user: User; code: string; at: Date }) {
  const { user, code, at } = of;
  if (user.totpEnabledAt === null) return false;
  if (await acceptCode(trx, keyRing, { user, code })) return true;
  const sql = `UPDATE recovery_code SET used_at = :at WHERE user_id = :userId AND code_hash = :hash
               AND used_at IS NULL AND replaced_at IS NULL RETURNING 1`;
  const hash = sha256(code.toUpperCase().replaceAll(/[^0-9A-F]/g, ''));
  return (await rows(trx, sql, { userId: user.id, hash, at })).length > 0;
}

/** Turns two-factor on with a code of the new app. Returns the recovery codes; null where the code is wrong. */
export async function confirmTwoFactor(
  trx: Trx,
  keyRing: KeyRing,
  { user, code, at }: { user: User; code: string; at: Date },
): Promise<string[] | null> {
  if (user.totpEnabledAt !== null || !(await acceptCode(trx, keyRing, { user, code }))) return null;
  await updateRow(trx, { table: 'user_account', id: user.id }, { totpEnabledAt: at, updatedAt: at });
  return renewRecoveryCodes(trx, user.id, at);
}

/** Turns two-factor off. Without it there are no passkeys. */
export async function turnTwoFactorOff(trx: Trx, { userId, at }: { userId: string; at: Date }): Promise<void> {
  await removePasskeys(trx, { userId, at });
  const off = { totpEnabledAt: null, totpSecret: null, totpLastStep: null, updatedAt: at };
  await updateRow(trx, { table: 'user_account', id: userId }, off);
}

/** Replaces the recovery codes. Returns the new ones, of which the table stores hashes. */
export async function renewRecoveryCodes(trx: Trx, userId: string, at: Date): Promise<string[]> {
  const sql = 'UPDATE recovery_code SET replaced_at = :at WHERE user_id = :userId AND replaced_at IS NULL';
  await rows(trx, sql, { userId, at });
  const codes = Array.from({ length: RECOVERY_CODES }, () => randomBytes(RECOVERY_CODE_BYTES).toString('hex'));
  for (const code of codes) {
    const codeHash = sha256(code.toUpperCase());
    await insertRow(trx, 'recovery_code', { userId, codeHash, createdAt: at });
  }
  return codes.map((code) => code.replaceAll(/(.{5})(?=.)/g, '$1-'));
}

/** The number of recovery codes that are left. */
export async function countRecoveryCodes(db: Queryable, userId: string): Promise<number> {
  const sql = `SELECT count(*)::int AS count FROM recovery_code
               WHERE user_id = :userId AND used_at IS NULL AND replaced_at IS NULL`;
  return (await first<{ count: number }>(db, sql, { userId }))?.count ?? 0;
}

type Check = (trx: Trx, user: User, tx: UnitOfWork) => Promise<boolean>;

/**
 * Checks a code or a password of a user in a transaction of its own, which commits a wrong try: after five in a row none is
 * checked for 15 minutes, whatever the address. Returns whether it was right. Throws RATE_LIMITED.
 */
export async function checkLimited(
  runInTransaction: RunInTransaction,
  { userId, at }: { userId: string; at: Date },
  check: Check,
): Promise<boolean> {
  const result = await runInTransaction(async (tx) => {
    const { trx } = tx;
    const user = await first<User>(trx, 'SELECT * FROM user_account WHERE id = :userId FOR UPDATE', { userId });
    if (!user) return false;
    if (user.lockedUntil && user.lockedUntil > at) return user.lockedUntil;
    const isRight = await check(trx, user, tx);
    const failed = isRight ? 0 : user.failedChecks + 1;
    const isLocked = failed >= FAILED_CHECKS_MAX;
    const changes = {
      failedChecks: isLocked ? 0 : failed,
      lockedUntil: isLocked ? new Date(at.getTime() + LOCKED_MS) : null,
    };
    await updateRow(trx, { table: 'user_account', id: userId }, changes);
    return isRight;
  });
  if (typeof result === 'boolean') return result;
  const seconds = Math.ceil((result.getTime() - at.getTime()) / 1_000);
  const message = `Too many wrong tries. Try again in ${Math.ceil(seconds / 60)} minutes.`;
  throw new AppError('RATE_LIMITED', message, { headers: { 'Retry-After': String(seconds) } });
}
