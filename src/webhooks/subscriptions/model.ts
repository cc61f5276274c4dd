import { Model } from 'objection';
import type { z } from 'zod';

import { DAY_MS } from '../../lib/dates.ts';
import { rows, type Queryable } from '../../lib/db.ts';
import type { Environment } from '../../lib/scope.ts';
import { isQueued, isScheduled } from '../delivery/in-flight.ts';
import type { SandboxReceiver, Subscription } from './schema.ts';

/** A row of webhook_subscription. `secret`, `previousSecret` and `headers` are encrypted with the row's id. */
export class SubscriptionRow extends Model {
  static override tableName = 'webhook_subscription';

  declare id: string;
  declare merchantId: string;
  declare environment: Environment;
  declare url: string;
  declare eventTypes: string[];
  declare active: boolean;
  declare description: string;
  declare signatureEncoding: 'base64' | 'hex';
  declare headers: Buffer | null;
  declare headerNames: string[];
  declare secret: Buffer;
  declare secretHint: string;
  declare previousSecret: Buffer | null;
  declare previousSecretExpiresAt: Date | null;
  declare verifiedAt: Date | null;
  declare consecutiveFailures: number;
  declare throttledUntil: Date | null;
  declare sandboxReceiver: SandboxReceiver | null;
  declare deletedAt: Date | null;
  declare createdAt: Date;
}

type Health = Pick<z.input<typeof Subscription>['health'], 'successRate24h' | 'lastFailure' | 'waiting'>;

/** The health of these subscriptions, from the newest 1,000 deliveries of each, so that the cost is bounded. */
export async function findHealth(db: Queryable, subscriptionIds: string[], now: Date): Promise<Map<string, Health>> {
  const sql = `
    SELECT s.id AS subscription_id, h.success_rate AS "successRate24h", f.last_failure,
           CAST((SELECT count(*) FROM webhook_delivery d WHERE d.subscription_id = s.id AND ${isQueued('d')})
              + (SELECT count(*) FROM webhook_delivery d WHERE d.subscription_id = s.id AND ${isScheduled('d')}) AS integer) AS waiting
    FROM unnest(CAST(:subscriptionIds AS text[])) AS s (id)
    CROSS JOIN LATERAL (
      SELECT array_agg(d.id) AS delivery_ids,
             CAST(avg(CASE WHEN d.status = 'DELIVERED' THEN 1 ELSE 0 END) AS double precision) AS success_rate
      FROM (SELECT id, status, attempts FROM webhook_delivery
            WHERE subscription_id = s.id AND status <> 'PENDING' AND created_at >= :since ORDER BY created_at DESC LIMIT 1000) d
      WHERE d.attempts > 0
    ) h
    LEFT JOIN LATERAL (
      SELECT a.failure || jsonb_build_object('httpStatus', a.http_status,
               'at', to_char(a.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS last_failure
      FROM webhook_attempt a WHERE a.delivery_id = ANY(h.delivery_ids) AND a.failure IS NOT NULL
      ORDER BY a.started_at DESC LIMIT 1
    ) f ON true`;
  const found = await rows<Health & { subscriptionId: string }>(db, sql, {
    subscriptionIds,
    since: new Date(now.getTime() - DAY_MS),
  });
  return new Map(found.map((row) => [row.subscriptionId, row]));
}
