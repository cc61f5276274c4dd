import { measureFigures, type Registry } from '../http/metrics.ts';
import { rows, type Knex } from '../lib/db.ts';

const GAUGES = {
  held: { name: 'meskot_payments_held', help: 'Attempts paid with another amount or currency than asked' },
  duplicate: { name: 'meskot_payments_duplicate', help: 'Attempts paid though another had paid already' },
  reconcile: {
    name: 'meskot_payments_to_reconcile',
    help: 'Transactions that expired while their provider did not know',
  },
} as const;

type Figures = Record<keyof typeof GAUGES, number>;

/** Payments that an operator must look at: all should be 0. Counted when somebody looks, in one statement. */
export function measurePayments(registry: Registry, db: Knex): void {
  measureFigures(registry, GAUGES, async () => countOddPayments(db));
}

async function countOddPayments(db: Knex): Promise<Figures> {
  const [figures] = await rows<Figures>(
    db,
    `SELECT CAST(count(*) FILTER (WHERE status = 'HELD') AS integer) AS held,
            CAST(count(*) FILTER (WHERE status = 'DUPLICATE') AS integer) AS duplicate,
            (SELECT CAST(count(*) AS integer) FROM transaction WHERE reconcile) AS reconcile
     FROM payment_attempt WHERE status IN ('HELD', 'DUPLICATE')`,
  );
  return figures ?? { held: 0, duplicate: 0, reconcile: 0 };
}
