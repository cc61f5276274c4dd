import type { KeyRing } from '../../lib/crypto.ts';
import { rows, type Trx } from '../../lib/db.ts';
import { enqueueMail } from '../../outbox/mail.ts';
import { createToken } from './tokens.ts';
import { findUserByEmail } from './users.ts';

/** The console's page of an invitation. */
export const OPERATOR_INVITATION_PATH = '/invitation';

/**
 * Mails an operator the way into the console: the sign-in for a person who has an account, else a link to set a password.
 * Earlier links end. `consoleUrl`: null where there is no console, and so no mail.
 */
export async function mailOperator(
  trx: Trx,
  { keyRing, consoleUrl }: { keyRing: KeyRing; consoleUrl: string | null },
  { email, at }: { email: string; at: Date },
): Promise<void> {
  if (consoleUrl === null) return;
  await endMailedLinks(trx, { email }, at);
  const newLink = async (): Promise<string> => {
    const { token } = await createToken(trx, { purpose: 'operator-invitation', email }, at);
    return `${consoleUrl}${OPERATOR_INVITATION_PATH}?${new URLSearchParams({ token }).toString()}`;
  };
  const text = (await findUserByEmail(trx, email)) ? signInText(consoleUrl) : invitationText(await newLink());
  const subject = "Meskot operators' console · የMeskot ኦፕሬተሮች ኮንሶል";
  await enqueueMail(trx, keyRing, { recipient: email, subject, text });
}

/** Ends the links to set a password that an operator was mailed. */
export async function endMailedLinks(trx: Trx, { email }: { email: string }, at: Date): Promise<void> {
  const sql = `UPDATE user_token SET revoked_at = :at WHERE purpose = 'operator-invitation' AND lower(email) = lower(:email)
               AND used_at IS NULL AND revoked_at IS NULL`;
  await rows(trx, sql, { email, at });
}

const invitationText = (link: string): string => `You are an operator of Meskot. Set your password within 3 days:
${link}

The link works once. You then set up an authenticator app, which every sign-in needs.

የMeskot ኦፕሬተር ሆነዋል። የይለፍ ቃልዎን በ3 ቀናት ውስጥ በዚህ አገናኝ ያስገቡ፦
${link}

ሊንኩ አንድ ጊዜ ብቻ ይሠራል። ከዚያ ለእያንዳንዱ መግቢያ የሚያስፈልገውን የማረጋገጫ መተግበሪያ ያዘጋጃሉ።`;

const signInText = (link: string): string => `You are an operator of Meskot. Sign in with your account of this address:
${link}

የMeskot ኦፕሬተር ሆነዋል። በዚህ አድራሻ ባለዎት አካውንት ይግቡ፦
${link}`;
