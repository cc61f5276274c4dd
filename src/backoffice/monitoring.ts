import { cachedFor, measureFigures, type FigureGauge, type Registry } from '../http/metrics.ts';
import { rows, type Database } from '../lib/db.ts';
import { REVIEW_ITEMS } from './work-queue.ts';

const GAUGE = {
  name: 'meskot_work_queue_oldest_age_seconds',
  help: 'How long the oldest item of the work queue has waited, by kind, without those of the sandbox; 0 if there is none',
};
const CACHED_MS = 60_000;

const OLDEST = `
  SELECT kind, CAST(greatest(0, extract(epoch FROM CAST(:at AS timestamptz) - min(since))) AS float8) AS seconds
  FROM (${REVIEW_ITEMS.sql}) item WHERE environment IS DISTINCT FROM 'sandbox' GROUP BY kind`;

/** How long what needs an operator has waited. Measured once a minute at most. */
export function measureWorkQueue(registry: Registry, db: Database): void {
  const { kinds } = REVIEW_ITEMS;
  const gauges: Record<string, FigureGauge> = Object.fromEntries(
    kinds.map((kind) => [kind, { ...GAUGE, labels: { kind } }]),
  );
  const none = Object.fromEntries(kinds.map((kind) => [kind, 0]));
  const measure = async (): Promise<Record<string, number>> => {
    const found = await rows<{ kind: string; seconds: number }>(db, OLDEST, { at: new Date() });
    return { ...none, ...Object.fromEntries(found.map(({ kind, seconds }): [string, number] => [kind, seconds])) };
  };
  measureFigures(registry, gauges, cachedFor(CACHED_MS, measure));
}
