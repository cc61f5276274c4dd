import { Gauge, type Registry } from 'prom-client';

import { rows, type Knex } from '../lib/db.ts';

type Figures = { held: number; duplicate: number; reconcile: number };

/** Payments that an operator must look at: all should be 0. Counted when somebody looks, in one statement. */
export function measurePayments(registry: Registry, db: Knex): void {
  let asked: Promise<Figures> | null = null;
  const figures = (): Promise<Figures> => {
    // One look sets all gauges: they are collected in the same turn.
    asked ??= countOddPayments(db).finally(() => {
      asked = null;
    });
    return asked;
  };
  const gauge = (name: string, help: string, read: (now: Figures) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        // Uncounted is not zero; and one collect that rejects would take all other metrics along.
        const now = await figures().catch(() => null);
        this.set(now === null ? NaN : read(now));
      },
    });
  };
  gauge('meskot_payments_held', 'Attempts paid with another amount or currency than asked', (now) => now.held);
  gauge('meskot_payments_duplicate', 'Attempts paid though another had paid already', (now) => now.duplicate);
  gauge(
    'meskot_payments_to_reconcile',
    'Transactions that expired while their provider did not know',
    (now) => now.reconcile,
  );
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
