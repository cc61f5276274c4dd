import { Gauge, type Registry } from 'prom-client';

import { rows, type Knex } from '../lib/db.ts';

type Figures = {
  pastDueSeconds: number;
  open: number;
  deadLetters: number;
  outboxRows: number;
  outboxSeconds: number;
};

/**
 * What to watch: above all the seconds past due of the oldest delivery that is not final, nothing excluded. Counted
 * when somebody looks, in one statement over the open rows' own indexes.
 */
export function measureDeliveries(registry: Registry, db: Knex): void {
  let asked: Promise<Figures> | null = null;
  const figures = (): Promise<Figures> => {
    // One look sets all gauges: they are collected in the same turn.
    asked ??= countOpen(db).finally(() => {
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
  gauge(
    'meskot_webhook_past_due_seconds',
    'Seconds past due of the oldest delivery that is not final; 0 when none is late',
    (now) => now.pastDueSeconds,
  );
  gauge('meskot_webhook_deliveries_open', 'Deliveries that are not final', (now) => now.open);
  gauge('meskot_webhook_dead_letters_open', 'Failed deliveries that nobody has resent', (now) => now.deadLetters);
  gauge('meskot_outbox_rows', 'Messages waiting to be brought to Temporal', (now) => now.outboxRows);
  gauge('meskot_outbox_age_seconds', 'Age of the oldest of them', (now) => now.outboxSeconds);
}

async function countOpen(db: Knex): Promise<Figures> {
  const [figures] = await rows<Figures>(
    db,
    `SELECT CAST(greatest(0, coalesce(extract(epoch FROM now() - min(d.next_attempt_at)), 0)) AS float8) AS past_due_seconds,
            CAST(count(*) AS integer) AS open,
            (SELECT CAST(count(*) AS integer) FROM webhook_dead_letter WHERE closed_at IS NULL) AS dead_letters,
            (SELECT CAST(count(*) AS integer) FROM outbox) AS outbox_rows,
            (SELECT CAST(coalesce(extract(epoch FROM now() - min(created_at)), 0) AS float8) FROM outbox) AS outbox_seconds
     FROM webhook_delivery d WHERE d.status IN ('PENDING', 'RETRYING')`,
  );
  return figures ?? { pastDueSeconds: 0, open: 0, deadLetters: 0, outboxRows: 0, outboxSeconds: 0 };
}
