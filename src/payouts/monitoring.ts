import { measureRow, type FigureGauge, type Registry } from '../http/metrics.ts';
import { camelCase } from '../lib/column-names.ts';
import type { Queryable } from '../lib/db.ts';
import { isContradictedSql } from './cases.ts';
import type { PayoutKind } from './queries.ts';

/** `conflicts`: those whose provider contradicts how they ended, undecided so far. */
type Measured = {
  kind: PayoutKind;
  stages: readonly string[];
  conflicts: FigureGauge;
};

/** Gauges of pending withdrawals or refunds by stage, the age of the oldest, and those in conflict: counted at each scrape. */
export function measureOutgoing(registry: Registry, db: Queryable, { kind, stages, conflicts }: Measured): void {
  const name = `meskot_${kind}s`;
  const open = stages.filter((stage) => stage !== 'COMPLETED');
  const gauges: Record<string, FigureGauge> = {
    oldest: {
      name: `${name}_oldest_submitted_age_seconds`,
      help: `Time since the oldest pending ${kind} was first sent; 0 if there is none`,
    },
    conflicts,
  };
  for (const stage of open) {
    const gauge = { name: `${name}_pending`, help: `Pending ${kind}s, by stage`, labels: { stage } };
    gauges[camelCase(stage.toLowerCase())] = gauge;
  }
  const counts = open.map((stage) => `count(*) FILTER (WHERE stage = '${stage}')::int AS ${stage.toLowerCase()}`);
  const sql = `SELECT ${counts.join(', ')}, coalesce(extract(epoch FROM now() - min(submitted_at)), 0)::float8 AS oldest,
      (SELECT count(*)::int FROM payout_case c JOIN payout p ON p.id = c.payout_id
       WHERE p.kind = '${kind}' AND ${isContradictedSql('p')}) AS conflicts
    FROM payout WHERE kind = '${kind}' AND status = 'PENDING'`;
  measureRow(registry, gauges, { db, sql });
}
