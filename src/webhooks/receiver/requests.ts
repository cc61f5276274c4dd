import type { z } from 'zod';

import { first, rows, type Queryable } from '../../lib/db.ts';
import { deleteInBatches } from '../../lib/delete-in-batches.ts';
import { newId } from '../../lib/ids.ts';
import type { ReceivedRequest, SandboxReceiver } from '../subscriptions/schema.ts';

/** Kept of one receiver. */
const REQUESTS_MAX = 50;
const BODY_CHARACTERS_MAX = 16_384;
const HIDDEN = '***';
const NEWEST = 'created_at DESC, id DESC';

/** What the receiver needs of its subscription; `secret` is encrypted. */
export type ReceiverTarget = { id: string; secret: Buffer; headerNames: string[]; sandboxReceiver: SandboxReceiver };

/** The subscription of a receiver; undefined when there is none. */
export async function findReceiver(db: Queryable, subscriptionId: string): Promise<ReceiverTarget | undefined> {
  const sql = `
    SELECT id, secret, header_names, sandbox_receiver FROM webhook_subscription
    WHERE id = :subscriptionId AND sandbox_receiver IS NOT NULL AND deleted_at IS NULL`;
  return first<ReceiverTarget>(db, sql, { subscriptionId });
}

type Received = {
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Why the signature is not valid; null: it is. */
  problem: string | null;
  httpStatus: number;
};

/** Stores a request, and deletes those beyond the last 50. The values of the merchant's own headers are not stored. */
export async function storeRequest(db: Queryable, to: ReceiverTarget, received: Received): Promise<void> {
  const { headers, body, problem, httpStatus } = received;
  const own = new Set(to.headerNames.map((name) => name.toLowerCase()));
  const shown = Object.entries(headers).map(([name, value]) => [name, own.has(name) ? HIDDEN : value]);
  await rows(
    db,
    `WITH stored AS (
       INSERT INTO sandbox_receiver_request (id, subscription_id, headers, body, body_bytes, problem, http_status)
       VALUES (:id, :subscriptionId, CAST(:headers AS jsonb), :body, :bodyBytes, :problem, :httpStatus)
     )
     DELETE FROM sandbox_receiver_request WHERE id = ANY (ARRAY(
       SELECT id FROM sandbox_receiver_request WHERE subscription_id = :subscriptionId
       ORDER BY ${NEWEST} OFFSET ${REQUESTS_MAX - 1}))`,
    {
      id: newId('whr'),
      subscriptionId: to.id,
      headers: JSON.stringify(Object.fromEntries(shown)),
      // PostgreSQL's text has no NUL.
      body: body.toString().replaceAll('\0', '').slice(0, BODY_CHARACTERS_MAX),
      bodyBytes: body.length,
      problem,
      httpStatus,
    },
  );
}

/** The requests of a receiver, newest first: at most 50. */
export async function listRequests(db: Queryable, subscriptionId: string): Promise<z.input<typeof ReceivedRequest>[]> {
  const sql = `
    SELECT id AS request_id, created_at AS received_at, headers, body, body_bytes, problem, http_status
    FROM sandbox_receiver_request WHERE subscription_id = :subscriptionId ORDER BY ${NEWEST} LIMIT ${REQUESTS_MAX}`;
  return rows(db, sql, { subscriptionId });
}

/** Deletes the requests of a deleted subscription. */
export async function deleteRequests(db: Queryable, subscriptionId: string): Promise<void> {
  await rows(db, 'DELETE FROM sandbox_receiver_request WHERE subscription_id = :subscriptionId', { subscriptionId });
}

/** Deletes the requests of more than 7 days ago; returns how many. For a periodic job. */
export async function deleteOldReceived(db: Queryable, stopping?: AbortSignal): Promise<number> {
  const where = "created_at < now() - interval '7 days'";
  return deleteInBatches(db, { table: 'sandbox_receiver_request', where }, stopping);
}
