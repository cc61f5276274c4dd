import { rows, type Queryable } from './db.ts';

/** What can be locked by its name: it is no row, does not exist yet, or is several rows. */
export type LockKind =
  | 'bank_account'
  | 'channel_maintenance'
  | 'fee_rule'
  | 'limit_rule'
  | 'operators'
  | 'passkeys'
  | 'payout_reference'
  | 'report_schedules'
  | 'resend_job'
  | 'settlement'
  | 'team'
  | 'views';

/**
 * Waits until no other transaction holds the lock of this kind and id, then holds it until the transaction ends. It only
 * locks: rows are read by the statement after it, or, where one statement reads them anyway, locked there.
 */
export async function lock(trx: Queryable, kind: LockKind, id: string): Promise<void> {
  await rows(trx, 'SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))', { key: `${kind} ${id}` });
}
