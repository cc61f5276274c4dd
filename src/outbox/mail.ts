import { createTransport } from 'nodemailer';

import { decrypt, encrypt, type KeyRing } from '../lib/crypto.ts';
import { first, insertRow, rows, type Database, type Queryable, type Trx } from '../lib/db.ts';
import { deleteInBatches } from '../lib/delete-in-batches.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import type { SealedTable } from '../lib/reencrypt.ts';
import type { Environment, MerchantScope } from '../lib/scope.ts';
import type { UnitOfWork } from './record.ts';

export type Mail = { recipient: string; subject: string; text: string };

/** `count`: of all that were collected in the mail, whose sum `amount` is; the rest is of the first one. */
type WithdrawalFacts = Record<'withdrawalId' | 'requestId' | 'amount' | 'channel', string> & { count?: number };
type RefundFacts = Record<'refundId' | 'transactionId' | 'reference' | 'amount' | 'until', string> & { count?: number };
type BankFacts = Record<'amount' | 'bankCode' | 'accountEnd' | 'expectedUntil', string>;
type ReportFacts = {
  of: 'payments' | 'refunds' | 'withdrawals' | 'settlements' | 'balance';
  startDate: string;
  endDate: string;
};

/** Amounts in birr, as they are written; of a bank account the last four digits; days as YYYY-MM-DD. */
type NoticeFacts =
  | ({ kind: 'settlement.sent'; settlementId: string; requestId: string } & BankFacts)
  | ({ kind: 'withdrawal.awaiting'; until: string } & WithdrawalFacts)
  | ({ kind: 'refund.awaiting' } & RefundFacts)
  | ({ kind: 'withdrawal.unconfirmed' } & WithdrawalFacts)
  | ({ kind: 'report.ready'; isScheduled: boolean; rows: number } & ReportFacts)
  | ({ kind: 'report.failed' } & ReportFacts)
  | { kind: 'endpoint.failing'; host: string; failures: number }
  | { kind: 'owner.invited'; email: string };

/** The facts of a mail to members of a merchant: nothing secret. */
export type Notice = NoticeFacts & { merchantName: string; environment: Environment };

export type WriteNotice = (notice: Notice, language: 'en' | 'am') => Pick<Mail, 'subject' | 'text'>;

/**
 * A row of `mail`. Its body is encrypted, since it may have a token, and deleted when it is sent. A notice is written in
 * words when it is sent.
 */
type MailRow = { id: string; recipient: string; tries: number; createdAt: Date } & (
  | { notice: null; language: null; subject: string; body: Buffer | null }
  | { notice: Notice; language: 'en' | 'am'; subject: null; body: null }
);

/** A mail that is being sent is tried again after this time, if its process dies. */
const CLAIMED_MS = 5 * 60_000;
const RETRY_MS = 60_000;
const TRIES_MAX = 10;
const LISTED_MAX = 50;

const scopeOf = (id: string): string => `mail/${id}`;

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

/**
 * Adds a mail to each member of a merchant with one of the roles, and to those of these people who are members, in the
 * transaction of the change. Those about withdrawals and refunds that wait, or withdrawals that are cancelled, are collected for
 * three minutes.
 */
export async function notifyMembers(
  tx: UnitOfWork,
  { merchantId, environment }: MerchantScope,
  { roles = [], userIds = [], ...facts }: NoticeFacts & { roles?: readonly string[]; userIds?: readonly string[] },
): Promise<void> {
  const members = ':merchantId, :environment, CAST(:roles AS text[]), CAST(:userIds AS text[]), CAST(:facts AS jsonb)';
  const sql = COLLECTED[facts.kind]
    ? `SELECT collect_notice(${members}, interval '${COLLECTED_MS} ms')`
    : `SELECT notify_members(${members})`;
  await tx.writeDeferred(sql, { merchantId, environment, roles, userIds, facts: JSON.stringify(facts) });
}

/**
 * Kinds of which a file of withdrawals, or a recall of a product, brings hundreds, with the permission of those who get them:
 * one mail has all of so long a time.
 */
const COLLECTED: Partial<Record<NoticeFacts['kind'], string>> = {
  'withdrawal.awaiting': 'withdrawals:write',
  'withdrawal.unconfirmed': 'withdrawals:write',
  'refund.awaiting': 'refunds:write',
};
const COLLECTED_MS = 3 * 60_000;

/** Deletes what is being collected for a member who has only these permissions from now on. */
export async function discardCollected(
  trx: Trx,
  { merchantId, email, permissions }: { merchantId: string; email: string; permissions: readonly string[] },
): Promise<void> {
  const lost = Object.entries(COLLECTED).filter(([, permission]) => !permissions.includes(permission));
  const sql = `DELETE FROM mail WHERE recipient = :email AND sent_at IS NULL
    AND split_part(collected_as, ' ', 1) = ANY (:kinds) AND split_part(collected_as, ' ', 2) = :merchantId`;
  await rows(trx, sql, { merchantId, email, kinds: lost.map(([kind]) => kind) });
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

type WriterDeps = { db: Database; keyRing: KeyRing; write: WriteNotice };
type SenderDeps = WriterDeps & { send: SendMail; log: Logger };

/** Subject and text of a mail; the text is empty once it was sent. */
function wordsOf({ keyRing, write }: WriterDeps, mail: MailRow): Pick<Mail, 'subject' | 'text'> {
  if (mail.notice !== null) return write(mail.notice, mail.language);
  return { subject: mail.subject, text: mail.body ? decrypt(keyRing, scopeOf(mail.id), mail.body) : '' };
}

/** Sends the mails that are due, one after the other. A mail is given up after ten tries. For a periodic job. */
export async function sendMails(deps: SenderDeps, stopping: AbortSignal): Promise<void> {
  const { db, send, log } = deps;
  while (!stopping.aborted) {
    const mail = await first<MailRow>(
      db,
      `UPDATE mail SET tries = tries + 1, due_at = now() + interval '${CLAIMED_MS} ms' WHERE id = (
         SELECT id FROM mail WHERE sent_at IS NULL AND tries < ${TRIES_MAX} AND due_at <= now()
         ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING *`,
    );
    if (!mail) return;
    try {
      await send({ recipient: mail.recipient, ...wordsOf(deps, mail) });
      await rows(db, 'UPDATE mail SET sent_at = now(), body = NULL WHERE id = :id', mail);
    } catch (error) {
      log.warn({ err: error, mailId: mail.id, tries: mail.tries }, 'A mail was not sent');
      const sql = `UPDATE mail SET due_at = now() + tries * interval '${RETRY_MS} ms' WHERE id = :id`;
      await rows(db, sql, mail);
    }
  }
}

/** The newest mails with their text, for a local installation without a mail server. */
export async function listMails(deps: WriterDeps): Promise<(Mail & { createdAt: Date })[]> {
  const sql = `SELECT * FROM mail ORDER BY created_at DESC, id DESC LIMIT ${LISTED_MAX}`;
  const found = await rows<MailRow>(deps.db, sql);
  return found.map((mail) => ({ recipient: mail.recipient, createdAt: mail.createdAt, ...wordsOf(deps, mail) }));
}

/** Gauges, and the statement that measures them: mails that wait, and those of the last 30 days that were given up. */
export const UNSENT_MAILS = {
  gauges: {
    oldest: {
      name: 'meskot_mails_oldest_unsent_age_seconds',
      help: 'Time since the oldest mail that waits was written; 0 when none waits',
    },
    givenUp: { name: 'meskot_mails_given_up', help: 'Mails of the last 30 days that no try could send' },
  },
  sql: `
    SELECT CAST(coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE tries < ${TRIES_MAX})), 0) AS float8) AS oldest,
           CAST(count(*) FILTER (WHERE tries >= ${TRIES_MAX} AND due_at <= now()) AS integer) AS given_up
    FROM mail WHERE sent_at IS NULL`,
} as const;

/** The number of mails that were not sent, up to 999. */
export async function countUnsentMails(db: Queryable): Promise<number> {
  const sql = 'SELECT count(*)::int AS count FROM (SELECT FROM mail WHERE sent_at IS NULL LIMIT 999) unsent';
  return (await first<{ count: number }>(db, sql))?.count ?? 0;
}

/** Deletes mails of more than 30 days ago: sent ones, and those that were given up. For a periodic job. */
export async function deleteOldMails(db: Queryable, stopping?: AbortSignal): Promise<number> {
  return deleteInBatches(db, { table: 'mail', where: "created_at < now() - interval '30 days'" }, stopping);
}
