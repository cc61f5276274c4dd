import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { Sums } from './match.ts';
import type { ReconciliationStatus } from './states.ts';

/** How a channel's day stands. */
export type ReconciledDay = {
  environment: Environment;
  channel: Channel;
  /** YYYY-MM-DD in Addis Ababa. */
  day: string;
  status: ReconciliationStatus;
  /** It is being compared now, or waits for its provider. */
  isRunning: boolean;
  differences: number;
  /** Why it does not go on, or was given up; null while all is well. */
  error: string | null;
  /** What the provider lists, and what is booked of that or was booked that day; null before the first comparison. */
  theirs: Sums | null;
  ours: Sums | null;
  /** What the provider owed by the ledger at the day's end. */
  clearingSantim: Santim | null;
  comparedAt: Date | null;
};

type DayFilter = {
  /** YYYY-MM-DD, both included. */
  startDate: string;
  endDate: string;
  environment?: Environment | undefined;
  channel?: Channel | undefined;
};

/** The days that were ever asked for, the latest first; a range of days bounds them. */
export async function listReconciledDays(db: Queryable, filter: DayFilter): Promise<ReconciledDay[]> {
  const found = await rows<DayRow>(
    db,
    `SELECT r.*, CAST(r.day AS text) AS day,
            (SELECT CAST(count(*) AS integer) FROM reconciliation_discrepancy d
             WHERE d.reconciliation_id = r.id AND d.closed_at IS NULL) AS differences
     FROM reconciliation r
     WHERE r.day BETWEEN CAST(:startDate AS date) AND CAST(:endDate AS date)
       AND (CAST(:environment AS text) IS NULL OR r.environment = :environment)
       AND (CAST(:channel AS text) IS NULL OR r.channel = :channel)
     ORDER BY r.day DESC, r.environment, r.channel`,
    { ...filter, environment: filter.environment ?? null, channel: filter.channel ?? null },
  );
  return found.map((row) => ({
    environment: row.environment,
    channel: row.channel,
    day: row.day,
    status: row.status,
    isRunning: row.isRunning,
    differences: row.differences,
    error: row.error,
    theirs: row.theirPayments === null ? null : sumsOf(row, 'their'),
    ours: row.ourPayments === null ? null : sumsOf(row, 'our'),
    clearingSantim: row.clearingSantim,
    comparedAt: row.comparedAt,
  }));
}

type Side = 'their' | 'our';
type Noun = 'Payments' | 'Payouts' | 'Reversals';
type Figures = Record<`${Side}${Noun}`, number | null> & Record<`${Side}${Noun}Santim`, Santim | null>;
type DayRow = Omit<ReconciledDay, 'theirs' | 'ours'> & Figures;

function sumsOf(row: Figures, side: Side): Sums {
  const of = (noun: Noun) => ({ count: row[`${side}${noun}`] ?? 0, santim: row[`${side}${noun}Santim`] ?? 0n });
  return { payments: of('Payments'), payouts: of('Payouts'), reversals: of('Reversals') };
}
