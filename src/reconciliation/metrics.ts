import { measureFigures, type Registry } from '../http/metrics.ts';
import { rows, type Knex } from '../lib/db.ts';

const age = {
  name: 'meskot_reconciliation_last_clean_age_seconds',
  help: 'Time since a day of the channel was last compared and found clean; NaN when none ever was',
};

const GAUGES = {
  differences: {
    name: 'meskot_reconciliation_discrepancies_pending',
    help: "Open discrepancies between the providers' statements and the ledger",
  },
  incomplete: {
    name: 'meskot_reconciliation_runs_active',
    help: 'Days of channels whose comparison is running, or whose statement is not available',
  },
  failed: {
    name: 'meskot_reconciliation_days_failed',
    help: 'Days of channels whose comparison was abandoned, until the next night or an operator requests it again',
  },
  liveTelebirr: { ...age, labels: { environment: 'live', channel: 'TELEBIRR' } },
  liveCbeBirr: { ...age, labels: { environment: 'live', channel: 'CBE_BIRR' } },
  liveAwash: { ...age, labels: { environment: 'live', channel: 'AWASH' } },
  sandboxTelebirr: { ...age, labels: { environment: 'sandbox', channel: 'TELEBIRR' } },
  sandboxCbeBirr: { ...age, labels: { environment: 'sandbox', channel: 'CBE_BIRR' } },
  sandboxAwash: { ...age, labels: { environment: 'sandbox', channel: 'AWASH' } },
} as const;

type Figures = Record<keyof typeof GAUGES, number>;

/** Open discrepancies and runs, and the age of the last clean day. Counted when the metrics are read. */
export function measureReconciliation(registry: Registry, db: Knex): void {
  measureFigures(registry, GAUGES, async () => countReconciliation(db));
}

async function countReconciliation(db: Knex): Promise<Figures> {
  const [[counts], ages] = await Promise.all([
    rows<{ differences: number; incomplete: number; failed: number }>(
      db,
      `SELECT (SELECT CAST(count(*) AS integer) FROM reconciliation_discrepancy WHERE closed_at IS NULL) AS differences,
              (SELECT CAST(count(*) AS integer) FROM reconciliation WHERE is_running) AS incomplete,
              (SELECT CAST(count(*) AS integer) FROM reconciliation WHERE status = 'INCOMPLETE' AND NOT is_running) AS failed`,
    ),
    rows<{ environment: string; channel: string; seconds: number }>(
      db,
      `SELECT environment, channel, CAST(extract(epoch FROM now() - max(last_clean_at)) AS double precision) AS seconds
       FROM reconciliation WHERE last_clean_at IS NOT NULL GROUP BY environment, channel`,
    ),
  ]);
  if (!counts) throw new Error('the counts are missing');
  const ageOf = (environment: string, channel: string): number =>
    ages.find((one) => one.environment === environment && one.channel === channel)?.seconds ?? NaN;
  return {
    ...counts,
    liveTelebirr: ageOf('live', 'TELEBIRR'),
    liveCbeBirr: ageOf('live', 'CBE_BIRR'),
    liveAwash: ageOf('live', 'AWASH'),
    sandboxTelebirr: ageOf('sandbox', 'TELEBIRR'),
    sandboxCbeBirr: ageOf('sandbox', 'CBE_BIRR'),
    sandboxAwash: ageOf('sandbox', 'AWASH'),
  };
}
