import { randomBytes } from 'node:crypto';

import { hashPassword, isPassword } from '../../access/users/passwords.ts';
import { createUser, findUserByEmail, setMembership, changeUser } from '../../access/users/users.ts';
import type { Database } from '../../lib/db.ts';
import { DEMO_OPERATORS, DEMO_PEOPLE } from './demo.ts';

const PASSWORD_BYTES = 12;

/**
 * The accounts of the demo merchants' people and of the demo operators, who share one password. Returns the stored one where it is still theirs; else all get
 * a new one.
 */
export async function recallPeople(db: Database, stored = ''): Promise<string> {
  const people = [...DEMO_PEOPLE, ...DEMO_OPERATORS];
  const users = await Promise.all(people.map(async ({ email }) => findUserByEmail(db, email)));
  const [first] = users;
  if (first && !users.includes(undefined) && (await isPassword(first.passwordHash, stored))) return stored;
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  await db.transaction(async (trx) => {
    for (const [index, { email, name, ...more }] of people.entries()) {
      const existing = users[index];
      if (existing) await changeUser(trx, existing.id, { passwordHash: await hashPassword(password) });
      const { id: userId } = existing ?? (await createUser(trx, { email, name, password }));
      if ('merchantId' in more) await setMembership(trx, { userId, ...more });
    }
  });
  return password;
}
