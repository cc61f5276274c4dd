import { endOfAddisDay, startOfAddisDay } from '../lib/dates.ts';
import { first, type Queryable, rows } from '../lib/db.ts';
import { found } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import { whereGiven } from '../lib/paginate-newest.ts';
import type { DayRange } from '../lib/pagination.ts';
import { findRecoverable } from '../outbox/recover-workflows.ts';
import type { ReconciliationStatus, SideSums } from './states.ts';
import { type ChannelDay, reconciliationWorkflowId, requestMessage } from './workflow.ts';

/** The open discrepancies of a day `r`, in SQL. */
export const OPEN_DISCREPANCIES = `(
  SELECT CAST(count(*) AS integer) FROM reconciliation_discrepancy d WHERE d.reconciliation_id = r.id AND d.closed_at IS NULL)`;

/** The errors of the statements of a day `r` that are delayed or were left out, with their accounts, in SQL. */
export const STATEMENT_ERRORS = `(
  SELECT left(string_agg(concat_ws(': ', 'account ' || nullif(t.account, ''), t.error), '; ' ORDER BY t.account), 1000)
  FROM reconciliation_statement t WHERE t.reconciliation_id = r.id AND t.error IS NOT NULL)`;

/** The latest result of a day of a channel. */
export type ReconciledDay = ChannelDay & {
  id: string;
  status: ReconciliationStatus;
  /** Its comparison is running, or is waiting for its provider. */
  isRunning: boolean;
  discrepancies: number;
  /** Why it is stalled or was abandoned, or was compared without the statements of some accounts; null otherwise. */
  error: string | null;
  /** The orders that the provider lists, and those posted for them or on that day; null before the first comparison. */
  listed: SideSums | null;
  booked: SideSums | null;
  /** The provider's debt in the ledger at the end of the day. */
  clearingSantim: Santim | null;
  comparedAt: Date | null;
};

/** The requested days of a range (YYYY-MM-DD, both included), the latest first. */
export async function listReconciledDays(
  db: Queryable,
  { startDate, endDate }: Pick<DayRange, 'startDate' | 'endDate'>,
  place: { [Name in 'environment' | 'channel']?: ChannelDay[Name] | undefined } = {},
): Promise<ReconciledDay[]> {
  const { where, values } = whereGiven(place);
  return rows(
    db,
    `SELECT r.id, r.environment, r.channel, r.day, r.status, r.is_running, coalesce(r.error, ${STATEMENT_ERRORS}) AS error,
            r.listed, r.booked, r.clearing_santim, r.compared_at, ${OPEN_DISCREPANCIES} AS discrepancies
     FROM reconciliation r
     WHERE r.day BETWEEN CAST(:startDate AS date) AND CAST(:endDate AS date) AND ${where}
     ORDER BY r.day DESC, r.environment, r.channel`,
    { ...values, startDate, endDate },
  );
}

export type Scope = ChannelDay & {
  reconciliationId: string;
  /** Whether any statement of the day was ever imported completely. */
  hasStatement: boolean;
  startsAt: Date;
  endsAt: Date;
  /** The channel's clearing account and its first entry; null before its first posting. */
  accountId: bigint | null;
  firstEntryAt: Date | null;
};

/** Throws NOT_FOUND. */
export async function readScope(db: Queryable, reconciliationId: string): Promise<Scope> {
  const run = await first<Omit<Scope, 'startsAt' | 'endsAt'>>(
    db,
    `SELECT r.id AS reconciliation_id, r.environment, r.channel, r.day, c.id AS account_id,
            (SELECT e.effective_at FROM ledger_entry e WHERE e.account_id = c.id ORDER BY e.effective_at LIMIT 1) AS first_entry_at,
            EXISTS (SELECT FROM reconciliation_statement t WHERE t.reconciliation_id = r.id AND t.completed_import_no > 0) AS has_statement
     FROM reconciliation r
     LEFT JOIN ledger_account c
       ON c.environment = r.environment AND c.currency = 'ETB' AND c.kind = 'CHANNEL_CLEARING' AND c.channel = r.channel
     WHERE r.id = :reconciliationId`,
    { reconciliationId },
  );
  const scope = found(run, 'reconciliation');
  return { ...scope, startsAt: startOfAddisDay(scope.day), endsAt: endOfAddisDay(scope.day) };
}

export const findRecoverableRuns = findRecoverable<ChannelDay>({
  columns: 'r.environment, r.channel, r.day',
  from: 'reconciliation r',
  id: 'r.id',
  isOpen: 'r.is_running',
  changedAt: 'r.requested_at',
  workflowId: `'${reconciliationWorkflowId('')}' || r.id`,
  message: requestMessage,
});
