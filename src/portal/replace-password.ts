import { endSessions } from '../access/users/sessions.ts';
import { revokeTokens } from '../access/users/tokens.ts';
import { changeUser, type User } from '../access/users/users.ts';
import type { KeyRing } from '../lib/crypto.ts';
import type { Trx } from '../lib/db.ts';
import { enqueueMail } from '../outbox/mail.ts';
import { securityMail } from './mails.ts';

/** `keepSession`: the session in which the person has changed the password. */
type NewPassword = { user: User; passwordHash: string; at: Date; keepSession?: string };

/** Sets a user's new password, ends the sessions and links that the old one has opened, and informs the user by mail. */
export async function replacePassword(
  trx: Trx,
  keyRing: KeyRing,
  { user, passwordHash, at, keepSession = '' }: NewPassword,
): Promise<void> {
  await changeUser(trx, user.id, { passwordHash });
  await endSessions(trx, user.id, { at, keep: keepSession });
  await revokeTokens(trx, user.id, at);
  await enqueueMail(trx, keyRing, { recipient: user.email, ...securityMail(user.language, 'password') });
}
