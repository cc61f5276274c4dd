import { createTransport } from 'nodemailer';

import { decrypt, encrypt, type KeyRing } from '../lib/crypto.ts';
import { first, insertRow, rows, type Database, type Queryable, type Trx } from '../lib/db.ts';
import { deleteInBatches } from '../lib/delete-in-batches.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import type { SealedTable } from '../lib/reencrypt.ts';

export type Mail = { recipient: string; subject: string; text: string };

/** A row of `mail`. Its body is encrypted, since it may have a token, and deleted when it is sent. */
type MailRow = { id: string; recipient: string; subject: string; body: Buffer | null; tries: number; createdAt: Date };

/** A mail that is being sent is tried again after this time, if its process dies. */
const CLAIMED_MS = 5 * 60_000;
const RETRY_MS = 60_000;
const TRIES_MAX = 10;
const LISTED_MAX = 50;

const scopeOf = (id: string): string => `mail/${id}`;

/** The table of encrypted bodies. */
export const SEALED_MAILS: SealedTable = {
  table: 'mail',
  key: ['id'],
  columns: ['body'],
  scopeOf: ([id = '']) => scopeOf(id),
};

/** Adds a mail to the outbox, in the transaction of the change that it is about. */
export async function enqueueMail(trx: Trx, keyRing: KeyRing, { recipient, subject, text }: Mail): Promise<void> {
  const id = newId('mai');
  await insertRow(trx, 'mail', { id, recipient, subject, body: encrypt(keyRing, scopeOf(id), text) });
}

/** Sends one mail. Rejects when the server does not accept it. */
export type SendMail = (mail: Mail) => Promise<void>;

/** For each step of sending. A server that hangs also delays the end of its process. */
const TIMEOUT_MS = 10_000;

function openTransport(url: string, timeoutMs: number) {
  const timeouts = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, dnsTimeout: timeoutMs };
  return createTransport({ url, ...timeouts, socketTimeout: timeoutMs });
}

/** Connects to a mail server, and signs in if the URL has a user. Sends nothing. Rejects with nodemailer's error. */
export async function tryMailServer(url: string, timeoutMs: number): Promise<void> {
  await openTransport(url, timeoutMs).verify();
}

/** Sends by a mail server: `smtps://user:password@smtp.example.et`. */
export function createSmtp(url: string, from: string): SendMail {
  const transport = openTransport(url, TIMEOUT_MS);
  return async ({ recipient: to, subject, text }) => void (await transport.sendMail({ from, to, subject, text }));
}

type SenderDeps = { db: Database; keyRing: KeyRing; send: SendMail; log: Logger };

/** Sends the mails that are due, one after the other. A mail is given up after ten tries. For a periodic job. */
export async function sendMails({ db, keyRing, send, log }: SenderDeps, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    const mail = await first<MailRow>(
      db,
      `UPDATE mail SET tries = tries + 1, due_at = now() + interval '${CLAIMED_MS} ms' WHERE id = (
         SELECT id FROM mail WHERE sent_at IS NULL AND tries < ${TRIES_MAX} AND due_at <= now()
         ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING *`,
    );
    if (!mail?.body) return;
    try {
      await send({ ...mail, text: decrypt(keyRing, scopeOf(mail.id), mail.body) });
      await rows(db, 'UPDATE mail SET sent_at = now(), body = NULL WHERE id = :id', mail);
    } catch (error) {
      log.warn({ err: error, mailId: mail.id, tries: mail.tries }, 'A mail was not sent');
      const sql = `UPDATE mail SET due_at = now() + tries * interval '${RETRY_MS} ms' WHERE id = :id`;
      await rows(db, sql, mail);
    }
  }
}

/** The newest mails with their text, for a local installation without a mail server. */
export async function listMails(db: Database, keyRing: KeyRing): Promise<(Mail & { createdAt: Date })[]> {
  const found = await rows<MailRow>(db, `SELECT * FROM mail ORDER BY created_at DESC, id DESC LIMIT ${LISTED_MAX}`);
  return found.map(({ id, body, ...mail }) => ({ ...mail, text: body ? decrypt(keyRing, scopeOf(id), body) : '' }));
}

/** Deletes mails of more than 30 days ago: sent ones, and those that were given up. For a periodic job. */
export async function deleteOldMails(db: Queryable, stopping?: AbortSignal): Promise<number> {
  return deleteInBatches(db, { table: 'mail', where: "created_at < now() - interval '30 days'" }, stopping);
}
