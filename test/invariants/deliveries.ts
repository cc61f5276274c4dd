import { rows } from '../../src/lib/db.ts';
import { EVENT_ALIASES } from '../../src/webhooks/events/record.ts';
import type { Evidence } from './evidence.ts';

const OVERDUE_MS = 60_000;

/**
 * I7: each event has a delivery for each matching subscription; it is final and consistent, or open with a due time.
 */
export async function everyDeliveryStands({ db }: Evidence): Promise<string[]> {
  const found = await rows<{ violation: string }>(
    db,
    `SELECT e.event || ' ' || e.id || ' has no delivery to ' || s.id AS violation
     FROM webhook_event e JOIN webhook_subscription s ON s.merchant_id = e.merchant_id AND s.environment = e.environment
     WHERE s.created_at < e.created_at AND (s.deleted_at IS NULL OR s.deleted_at > e.created_at)
       AND CASE WHEN e.resource_type = 'subscription' THEN e.resource_id = s.id
                ELSE e.event = ANY(s.event_types) OR ('*' = ANY(s.event_types) AND e.event <> ALL(:aliases)) END
       AND NOT EXISTS (SELECT FROM webhook_delivery d WHERE d.event_id = e.id AND d.subscription_id = s.id)
     UNION ALL
     SELECT 'delivery ' || d.id || ' is ' || d.status || ' with ' || count(l.id) || ' open dead letters'
     FROM webhook_delivery d LEFT JOIN webhook_dead_letter l ON l.delivery_id = d.id AND l.closed_at IS NULL
     GROUP BY d.id
     HAVING count(l.id) <> CASE WHEN d.status = 'FAILED' OR d.status_before_resend = 'FAILED' THEN 1 ELSE 0 END
     UNION ALL
     SELECT 'delivery ' || id || ' is ' || status || ' but never due' FROM webhook_delivery
     WHERE status IN ('PENDING', 'RETRYING') AND next_attempt_at IS NULL
     UNION ALL
     SELECT 'delivery ' || id || ' is ' || status || ' but has a time to be sent again' FROM webhook_delivery
     WHERE status NOT IN ('PENDING', 'RETRYING') AND next_attempt_at IS NOT NULL`,
    { aliases: Object.values(EVENT_ALIASES) },
  );
  return found.map(({ violation }) => violation);
}

type AttemptRow = {
  deliveryId: string;
  trigger: 'auto' | 'manual';
  retryNumber: number | null;
  startedAt: Date;
  endedAt: Date | null;
  failure: string | null;
  eventId: string;
  createdAt: Date;
};

const EARLY_MS = 1_000;

/** I9: no attempt is early or overdue. Requested resends are exempt. */
export async function nothingEarlyNothingLate(evidence: Evidence): Promise<string[]> {
  const { db, now, retryDelaysSeconds } = evidence;
  const attempts = await rows<AttemptRow>(
    db,
    `SELECT a.delivery_id, a.source, a.retry_number, a.started_at, a.ended_at, a.failure ->> 'code' AS failure, d.event_id, d.created_at
     FROM webhook_attempt a JOIN webhook_delivery d ON d.id = a.delivery_id ORDER BY a.delivery_id, a.sequence`,
  );
  const expedited = resentEvents(evidence);
  const failedAt = new Map<string, number>();
  const problems: string[] = [];
  for (const one of attempts) {
    if (one.trigger === 'manual' || one.retryNumber === null) continue;
    const attemptNo = `${one.deliveryId} ${one.retryNumber}`;
    const before = failedAt.get(`${one.deliveryId} ${one.retryNumber - 1}`);
    const dueMs =
      before === undefined ? one.createdAt.getTime() : before + (retryDelaysSeconds[one.retryNumber - 1] ?? 0) * 1_000;
    const earlyMs = dueMs - one.startedAt.getTime();
    if (earlyMs > EARLY_MS && !expedited.has(one.eventId))
      problems.push(`retry ${one.retryNumber} of delivery ${one.deliveryId} was made ${earlyMs} ms before it was due`);
    // An interrupted attempt does not count as a retry.
    if (one.endedAt && one.failure !== 'interrupted') failedAt.set(attemptNo, one.endedAt.getTime());
  }
  const late = await rows<{ id: string; nextAttemptAt: Date }>(
    db,
    `SELECT id, next_attempt_at FROM webhook_delivery WHERE status IN ('PENDING', 'RETRYING') AND next_attempt_at < :before`,
    { before: new Date(now.getTime() - OVERDUE_MS) },
  );
  return [
    ...problems,
    ...late.map(({ id, nextAttemptAt }) => `delivery ${id} has been due since ${nextAttemptAt.toISOString()}`),
  ];
}

const RESEND = /^webhooks\/events\/([^/]+)\/resend$/;

function resentEvents({ clients }: Evidence): Set<string> {
  const paths = clients.flatMap(({ requests }) => requests.map(({ path }) => RESEND.exec(path)?.[1]));
  return new Set(paths.filter((eventId) => eventId !== undefined));
}
