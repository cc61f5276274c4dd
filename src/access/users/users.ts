import type { Language } from '../../http/language.ts';
import type { MemberRole } from '../../http/people.ts';
import { first, insertRow, rows, updateRow, type Queryable, type Trx } from '../../lib/db.ts';
import { found } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { hashPassword } from './passwords.ts';

export const CALENDARS = ['gregorian', 'ethiopic', 'both'] as const;
/** ethiopian: counts twelve hours from 06:00 and from 18:00. */
export const CLOCKS = ['24h', '12h', 'ethiopian'] as const;

export type User = {
  id: string;
  email: string;
  name: string;
  passwordHash: string;
  language: Language;
  calendar: (typeof CALENDARS)[number];
  clock: (typeof CLOCKS)[number];
  totpSecret: Buffer | null;
  totpEnabledAt: Date | null;
  totpLastStep: bigint | null;
  failedChecks: number;
  lockedUntil: Date | null;
  createdAt: Date;
  updatedAt: Date;
};

/** One user. Throws NOT_FOUND. */
export async function findUser(db: Queryable, userId: string): Promise<User> {
  return found(await first<User>(db, 'SELECT * FROM user_account WHERE id = :userId', { userId }), 'user');
}

/** The user with an e-mail address, in any case of letters. */
export async function findUserByEmail(db: Queryable, email: string): Promise<User | undefined> {
  return first<User>(db, 'SELECT * FROM user_account WHERE lower(email) = lower(:email)', { email });
}

/** Creates a user. Fails with a unique violation where the address has one. */
export async function createUser(
  trx: Trx,
  { password, ...user }: Pick<User, 'email' | 'name'> & { id?: string; password: string },
): Promise<User> {
  const passwordHash = await hashPassword(password);
  return insertRow<User>(trx, 'user_account', { id: newId('usr'), ...user, passwordHash });
}

/** Changes what the person may change. */
export async function changeUser(
  trx: Trx,
  id: string,
  changes: { [Name in 'passwordHash' | 'name' | 'language' | 'calendar' | 'clock']?: User[Name] | undefined },
): Promise<void> {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  await updateRow(trx, { table: 'user_account', id }, { ...given, updatedAt: new Date() });
}

/** Adds a user to a merchant, or changes the role of a member. `invitedBy`: usr_… or opr_…. */
export async function setMembership(
  trx: Trx,
  membership: { userId: string; merchantId: string; role: MemberRole; invitedBy?: string | null },
): Promise<void> {
  const sql = `
    INSERT INTO membership (user_id, merchant_id, role, invited_by) VALUES (:userId, :merchantId, :role, :invitedBy)
    ON CONFLICT (user_id, merchant_id) DO UPDATE
    SET role = :role, invited_by = coalesce(:invitedBy, membership.invited_by), removed_at = NULL, updated_at = now()`;
  await rows(trx, sql, { invitedBy: null, ...membership });
}

/** The merchants of a user by name. */
export async function listMemberships(db: Queryable, userId: string) {
  const sql = `SELECT m.merchant_id, merchant.name, m.role FROM membership m JOIN merchant ON merchant.id = m.merchant_id
               WHERE m.user_id = :userId AND m.removed_at IS NULL ORDER BY merchant.name, m.merchant_id`;
  return rows<{ merchantId: string; name: string; role: MemberRole }>(db, sql, { userId });
}
