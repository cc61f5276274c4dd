import { measureFigures, type Registry } from '../http/metrics.ts';
import { rows, type Knex } from '../lib/db.ts';

const open = { name: 'meskot_settlements_open', help: 'Settlements that have not ended, by status' };

const GAUGES = {
  requested: { ...open, labels: { status: 'REQUESTED' } },
  approved: { ...open, labels: { status: 'APPROVED' } },
  processing: { ...open, labels: { status: 'PROCESSING' } },
  overdue: { name: 'meskot_settlements_overdue', help: 'Open settlements whose last expected day is over' },
} as const;

type Figures = Record<keyof typeof GAUGES, number>;

/** Settlements under way, and those that are late, which should be none. Counted when somebody looks. */
export function measureSettlements(registry: Registry, db: Knex): void {
  measureFigures(registry, GAUGES, async () => countSettlements(db));
}

async function countSettlements(db: Knex): Promise<Figures> {
  const [figures] = await rows<Figures>(
    db,
    `SELECT CAST(count(*) FILTER (WHERE status = 'REQUESTED') AS integer) AS requested,
            CAST(count(*) FILTER (WHERE status = 'APPROVED') AS integer) AS approved,
            CAST(count(*) FILTER (WHERE status = 'PROCESSING') AS integer) AS processing,
            CAST(count(*) FILTER (WHERE overdue_at IS NOT NULL) AS integer) AS overdue
     FROM settlement WHERE status IN ('REQUESTED', 'APPROVED', 'PROCESSING')`,
  );
  if (!figures) throw new Error('counting answered nothing');
  return figures;
}
