import type { z } from 'zod';

import { rows, type Queryable } from '../../lib/db.ts';
import { allOf, paginateNewest, type Listed } from '../../lib/paginate-newest.ts';
import type { DayRange, Page } from '../../lib/pagination.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { Attempt } from '../events/schema.ts';
import { isInFlight } from './in-flight.ts';
import type { DeliveryQuery, OperatorDelivery, OperatorDeliveryDetail } from './schema.ts';
import type { ResendFacts } from './states.ts';

/** In SQL: what decides whether a delivery may be resent; `d` is a webhook_delivery, `s` its subscription. */
export const RESEND_FACTS = `
  d.status, ${isInFlight('d')} AS in_flight,
  CASE WHEN s.deleted_at IS NOT NULL THEN 'deleted' WHEN s.active THEN 'active' ELSE 'inactive' END AS subscription`;

/** A delivery for operators, with its event, subscription and merchant. */
export type OperatorDeliveryRow = Omit<z.input<typeof OperatorDelivery>, 'temporalUrl' | 'links' | 'environment'> &
  Omit<z.input<typeof OperatorDeliveryDetail>['subscription'], 'state'> &
  Pick<z.input<typeof OperatorDeliveryDetail>, 'resourceType' | 'resourceId'> &
  MerchantScope &
  ResendFacts;

/** In SQL: the open dead letter l of a webhook_delivery d. */
const OPEN_DEAD_LETTER = 'webhook_dead_letter l WHERE l.delivery_id = d.id AND l.closed_at IS NULL';

/** These deliveries of any merchant, newest first. */
export async function readOperatorDeliveries(db: Queryable, deliveryIds: string[]): Promise<OperatorDeliveryRow[]> {
  const sql = `
    SELECT d.*, d.id AS delivery_id, s.url, s.receiver_host, s.description, s.consecutive_failures, s.throttled_until,
           ${RESEND_FACTS}, m.name AS merchant_name, e.resource_type, e.resource_id,
           (SELECT l.dismissed_at FROM ${OPEN_DEAD_LETTER}) AS dismissed_at,
           CAST(convert_from(e.payload, 'UTF8') AS json) #>> '{data,checkoutOrderNo}' AS checkout_order_no
    FROM webhook_delivery d
    JOIN webhook_subscription s ON s.id = d.subscription_id
    JOIN webhook_event e ON e.id = d.event_id
    JOIN merchant m ON m.id = d.merchant_id
    WHERE d.id = ANY (:deliveryIds) ORDER BY d.created_at DESC, d.id DESC`;
  return rows(db, sql, { deliveryIds });
}

/** The listed states that depend on it, by its dismissal. */
const DEAD_LETTERS = { DEAD_LETTER: 'IS NULL', DISMISSED: 'IS NOT NULL' } as const;

/** Filters of operators' lists and of bulk resends; undefined and null do not narrow, so a merchant's have its scope. */
export type DeliveryFilter = Partial<
  Pick<z.output<typeof DeliveryQuery>, 'status' | 'merchantId' | 'environment' | 'event' | 'receiverHost'>
> & {
  subscriptionId?: string | undefined;
  range: Pick<DayRange, 'from' | 'until'> | null;
  /** What the events are about. */
  resourceIds: string[] | null;
};

/**
 * The conditions of the filters that are set, on a webhook_delivery d. Each selective one has an index: order number, host,
 * merchant, status FAILED, dead letters; the others scan the days of the range.
 */
export function deliveryConditions({ range, status, ...filter }: DeliveryFilter): Pick<Listed, 'where' | 'values'> {
  const { merchantId, environment, event, subscriptionId, resourceIds } = filter;
  const statuses = status?.filter((one) => !(one in DEAD_LETTERS));
  const isDeadLetter = Object.entries(DEAD_LETTERS)
    .filter(([one]) => status?.some((wanted) => wanted === one))
    .map(([, dismissed]) => `EXISTS (SELECT FROM ${OPEN_DEAD_LETTER} AND l.dismissed_at ${dismissed})`);
  // Literals, because partial indexes are matched by them.
  const isOfStatus = statuses?.length ? [`d.status IN (${statuses.map((one) => `'${one}'`).join(', ')})`] : [];
  const byStatus = [...isOfStatus, ...isDeadLetter];
  const where = allOf([
    range && 'd.created_at >= :from AND d.created_at < :until',
    merchantId !== undefined && 'd.merchant_id = :merchantId',
    environment !== undefined && 'd.environment = :environment',
    event !== undefined && 'd.event = :event',
    subscriptionId !== undefined && 'd.subscription_id = :subscriptionId',
    byStatus.length > 0 && `(${byStatus.join(' OR ')})`,
    filter.receiverHost !== undefined &&
      'd.subscription_id = ANY (ARRAY(SELECT s.id FROM webhook_subscription s WHERE s.receiver_host = :receiverHost))',
    resourceIds &&
      'd.event_id = ANY (ARRAY(SELECT e.id FROM webhook_event e WHERE e.resource_id = ANY (:resourceIds)))',
  ]);
  const receiverHost = filter.receiverHost?.toLowerCase();
  return { where, values: { ...filter, receiverHost, from: range?.from, until: range?.until } };
}

/** A page of the deliveries of all merchants, newest first. */
export async function listDeliveries(db: Queryable, filter: DeliveryFilter, page: Page) {
  const listed = { columns: 'd.id', table: 'webhook_delivery d', time: 'd.created_at', ...deliveryConditions(filter) };
  const { rows: found, pagination } = await paginateNewest<{ id: string }>(db, listed, page);
  const deliveryIds = found.map(({ id }) => id);
  return { rows: await readOperatorDeliveries(db, deliveryIds), pagination };
}

const ATTEMPTS_MAX = 100;
const EXCERPT_CHARACTERS_MAX = 1_000;

/** The last attempts of a delivery, oldest first, with the first part of each response. */
export async function readAttempts(db: Queryable, deliveryId: string): Promise<z.input<typeof Attempt>[]> {
  const sql = `
    SELECT a.*, a.id AS attempt_id, d.subscription_id, a.source AS "trigger",
           left(a.response_excerpt, ${EXCERPT_CHARACTERS_MAX}) AS response_excerpt
    FROM webhook_attempt a JOIN webhook_delivery d ON d.id = a.delivery_id
    WHERE a.delivery_id = :deliveryId ORDER BY a.sequence DESC LIMIT ${ATTEMPTS_MAX}`;
  return (await rows<z.input<typeof Attempt>>(db, sql, { deliveryId })).toReversed();
}
