import { measureFigures, type Registry } from '../http/metrics.ts';
import { type Database, rows } from '../lib/db.ts';

const COUNTS = {
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
} as const;

const PLACES = ['live', 'sandbox'].flatMap((environment) =>
  ['TELEBIRR', 'CBE_BIRR', 'AWASH'].map((channel) => ({ environment, channel })),
);
const AGES = PLACES.map((labels) => {
  const name = 'meskot_reconciliation_last_clean_age_seconds';
  const help = 'Time since a day of the channel was last compared and found clean; NaN when none ever was';
  return [placeKey(labels), { name, help, labels }] as const;
});

/** Open discrepancies and runs, and the age of the last clean day. Counted when the metrics are read. */
export function measureReconciliation(registry: Registry, db: Database): void {
  measureFigures(registry, { ...COUNTS, ...Object.fromEntries(AGES) }, async () => countReconciliation(db));
}

async function countReconciliation(db: Database): Promise<Record<string, number>> {
  const [[counts], ages] = await Promise.all([
    rows<Record<keyof typeof COUNTS, number>>(
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
  const never = AGES.map(([key]) => [key, NaN] as const);
  const found = ages.map((age) => [placeKey(age), age.seconds] as const);
  return { ...counts, ...Object.fromEntries([...never, ...found]) };
}

function placeKey({ environment, channel }: { environment: string; channel: string }): string {
  return `${environment}-${channel}`;
}
