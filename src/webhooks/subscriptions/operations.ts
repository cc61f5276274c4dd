import type { Clock } from '../../lib/clock.ts';
import { encrypt, type KeyRing } from '../../lib/crypto.ts';
import { first, rows, type Queryable } from '../../lib/db.ts';
import { found, invalid, invalidFields, invalidState } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { SealedTable } from '../../lib/reencrypt.ts';
import { scopeOf, type Environment, type MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { newSecret } from '../delivery/attempt.ts';
import { SKIP } from '../delivery/claim.ts';
import { isInFlight, isQueued, isScheduled } from '../delivery/in-flight.ts';
import type { EgressGuard } from '../egress/egress.ts';
import type { EventCatalogue, EventTypeName } from '../events/catalogue.ts';
import { recordEvents } from '../events/record.ts';
import { receiverUrl } from '../receiver/receiver.ts';
import { deleteRequests } from '../receiver/requests.ts';
import { SubscriptionRow } from './model.ts';
import type { NewSubscription, SubscriptionChanges } from './schema.ts';

/** At most this many subscriptions per merchant and environment, inactive ones included. */
const SUBSCRIPTIONS_MAX = 16;
const HINT_CHARACTERS = 4;

export type SubscriptionDeps = {
  clock: Clock;
  keyRing: KeyRing;
  checkUrl: EgressGuard['checkUrl'];
  /** Of the public API. */
  baseUrl: string;
};

/** A row and its plain secret, for the only response that contains it. */
export type WithSecret = { row: SubscriptionRow; secret: string };

type Target = MerchantScope & { subscriptionId: string };

/**
 * Creates a subscription. Throws VALIDATION_ERROR (url, sandboxReceiver), and INVALID_STATE when there are 16 or a second
 * built-in receiver, also under concurrent requests.
 */
export async function createSubscription(
  deps: SubscriptionDeps,
  tx: UnitOfWork,
  input: MerchantScope & NewSubscription,
): Promise<WithSecret> {
  const { headers, url, sandboxReceiver = null, ...fields } = input;
  const { environment } = fields;
  if (url !== undefined) ensureUrlAllowed(deps, url, environment);
  if (sandboxReceiver && environment === 'live') {
    const issue = 'must not be given in live: it is for the sandbox';
    throw invalid('sandboxReceiver', { issue, code: 'not_allowed' });
  }
  // Serialises the creations of one merchant, so that the count is exact, and no other work on the merchant.
  await rows(tx.trx, 'SELECT 1 FROM merchant WHERE id = :merchantId FOR NO KEY UPDATE', input);
  const existing = await listSubscriptions(tx.trx, input);
  if (existing.length >= SUBSCRIPTIONS_MAX) {
    throw invalidState(`There are ${existing.length} subscriptions, which is the maximum: delete one first.`);
  }
  const receiver = existing.find((one) => one.sandboxReceiver !== null);
  if (sandboxReceiver && receiver) {
    throw invalidState(`There is a built-in receiver already: ${receiver.id}.`);
  }
  const id = newId('whs', deps.clock().getTime());
  const secret = newSecret();
  const row = await SubscriptionRow.query(tx.trx.knex()).insertAndFetch({
    id,
    ...fields,
    url: url ?? receiverUrl(deps.baseUrl, id),
    sandboxReceiver,
    ...sealedHeaders(deps.keyRing, id, headers),
    ...sealedSecret(deps.keyRing, id, secret),
    createdAt: deps.clock(),
  });
  return { row, secret };
}

/** All subscriptions of a merchant in an environment, oldest first: never more than 16. */
export async function listSubscriptions(db: Queryable, scope: MerchantScope): Promise<SubscriptionRow[]> {
  return SubscriptionRow.query(db.knex())
    .where({ ...scopeOf(scope), deletedAt: null })
    .orderBy('id');
}

/** One subscription, locked in a transaction. Throws NOT_FOUND, also for another merchant's and for a deleted one. */
export async function findSubscription(db: Queryable, target: Target): Promise<SubscriptionRow> {
  const where = { id: target.subscriptionId, ...scopeOf(target), deletedAt: null };
  const query = SubscriptionRow.query(db.knex()).findOne(where);
  return found(await (db.isTransaction ? query.forNoKeyUpdate() : query), 'subscription');
}

/**
 * Changes the given fields only. A new URL is UNVERIFIED, without failures. `waiting: skip` skips the waiting deliveries.
 * Throws VALIDATION_ERROR for the URL of the built-in receiver, and for `sandboxReceiver` of another subscription.
 */
export async function changeSubscription(
  deps: SubscriptionDeps,
  tx: UnitOfWork,
  target: Target & { changes: SubscriptionChanges },
): Promise<SubscriptionRow> {
  const before = await findSubscription(tx.trx, target);
  const { headers, url, waiting: wanted, ...fields } = target.changes;
  ensureSameReceiver(before, target.changes);
  const isNewUrl = url !== undefined && url !== before.url;
  if (isNewUrl) ensureUrlAllowed(deps, url, target.environment);
  const patch = {
    ...(fields as Partial<SubscriptionRow>),
    ...(headers && sealedHeaders(deps.keyRing, before.id, headers)),
    ...(isNewUrl && { url, verifiedAt: null, consecutiveFailures: 0, throttledUntil: null }),
  };
  if (Object.keys(patch).length === 0) return before;
  const row = await before.$query(tx.trx.knex()).patchAndFetch(patch);
  if (wanted === 'skip') await skipWaiting(tx, row);
  return row;
}

/** Further waiting deliveries of an inactive subscription are skipped when they are claimed. */
const SKIPPED_AT_ONCE_MAX = 5_000;

/** In SQL: deliveries of the subscription in this state without an attempt in flight. */
const waiting = (state: string): string => `ARRAY(
  SELECT d.id FROM webhook_delivery d WHERE d.subscription_id = :id AND ${state} AND NOT ${isInFlight('d')}
  LIMIT ${SKIPPED_AT_ONCE_MAX} FOR UPDATE SKIP LOCKED)`;

/**
 * Deletes a subscription. Its waiting deliveries become SKIPPED, and a waiting resend returns to the status before it. An
 * attempt in flight still completes.
 */
export async function deleteSubscription(deps: SubscriptionDeps, tx: UnitOfWork, target: Target) {
  const row = await findSubscription(tx.trx, target);
  const deleted = { deletedAt: deps.clock(), active: false };
  await SubscriptionRow.query(tx.trx.knex()).findById(row.id).patch(deleted);
  await skipWaiting(tx, row);
  await deleteRequests(tx.trx, row.id);
  return row;
}

/** Skips the waiting deliveries of an inactive subscription; a waiting resend returns to the status before it. */
async function skipWaiting({ trx }: UnitOfWork, { id }: SubscriptionRow): Promise<void> {
  await rows(trx, `${SKIP} WHERE d.id = ANY (${waiting(isQueued('d'))} || ${waiting(isScheduled('d'))})`, { id });
}

/**
 * Replaces the secret of a subscription. The new one signs at once; for `overlapSeconds` the old one signs as well (0: not at
 * all). Throws INVALID_STATE within the overlap of an earlier rotation unless forced: the oldest secret would stop signing.
 */
export async function rotateSecret(
  deps: SubscriptionDeps,
  tx: UnitOfWork,
  target: Target & { overlapSeconds: number; force: boolean },
): Promise<WithSecret> {
  const before = await findSubscription(tx.trx, target);
  const now = deps.clock();
  const previousUntil = before.previousSecretExpiresAt;
  if (previousUntil && previousUntil > now && !target.force) {
    throw invalidState(
      `The secret has been rotated, and the previous one signs until ${previousUntil.toISOString()}. Wait, or pass "force": true to end it now.`,
    );
  }
  const secret = newSecret();
  const overlaps = target.overlapSeconds > 0;
  const row = await before.$query(tx.trx.knex()).patchAndFetch({
    ...sealedSecret(deps.keyRing, before.id, secret),
    previousSecret: overlaps ? before.secret : null,
    previousSecretExpiresAt: overlaps ? new Date(now.getTime() + target.overlapSeconds * 1_000) : null,
  });
  return { row, secret };
}

/**
 * Sends an event of this type to this subscription only, with the catalogue's example as its data.
 * Throws INVALID_STATE when the subscription is inactive, and in live for any type but `webhook.test`: an example payment
 * could be mistaken for a real one.
 * @returns the event's id
 */
export async function sendTestEvent(
  deps: { clock: Clock; catalogue: EventCatalogue },
  tx: UnitOfWork,
  target: Target & { event: EventTypeName },
): Promise<string> {
  const { event, subscriptionId } = target;
  // Plain SQL: a query of Objection in a transaction takes as long as the rest of it.
  const sql = `
    SELECT active FROM webhook_subscription
    WHERE id = :subscriptionId AND merchant_id = :merchantId AND environment = :environment AND deleted_at IS NULL`;
  const subscription = await first<{ active: boolean }>(tx.trx, sql, target);
  if (!found(subscription, 'subscription').active) {
    throw invalidState('The subscription is inactive: activate it, then send the test event.');
  }
  if (target.environment === 'live' && event !== 'webhook.test') {
    throw invalidState(`In live the test event must be webhook.test, got "${event}".`);
  }
  const scope = scopeOf(target);
  const own = event === 'webhook.test' ? { subscriptionId } : {};
  const data = { ...deps.catalogue[event].example, ...scope, ...own };
  const resource = { resourceType: 'subscription', resourceId: subscriptionId };
  const [eventId] = await recordEvents(
    tx,
    [{ event, ...scope, ...resource, data, createdAt: deps.clock() }],
    subscriptionId,
  );
  return eventId as string;
}

function ensureUrlAllowed(deps: SubscriptionDeps, url: string, environment: Environment): void {
  const issues = deps.checkUrl(url, environment).map((issue) => ({ field: 'url', ...issue }));
  if (issues.length > 0) throw invalidFields(issues);
}

/** A subscription stays one of the merchant's server, or of the built-in receiver. */
function ensureSameReceiver(before: SubscriptionRow, { url, sandboxReceiver }: SubscriptionChanges): void {
  if (before.sandboxReceiver !== null && url !== undefined && url !== before.url) {
    const issue = 'is that of the built-in receiver: create another subscription';
    throw invalid('url', { issue, code: 'receiver_fixed' });
  }
  if (before.sandboxReceiver === null && sandboxReceiver !== undefined) {
    const issue = 'must not be given for a URL of your own: create a subscription with it in place of url';
    throw invalid('sandboxReceiver', { issue, code: 'receiver_fixed' });
  }
}

/** The table and columns of encrypted secrets and headers. */
export const SEALED_SUBSCRIPTIONS: SealedTable = {
  table: 'webhook_subscription',
  key: ['id'],
  columns: ['secret', 'previousSecret', 'headers'],
  scopeOf: ([id = '']) => id,
};

function sealedSecret(keyRing: KeyRing, id: string, secret: string) {
  return { secret: encrypt(keyRing, id, secret), secretHint: secret.slice(-HINT_CHARACTERS) };
}

function sealedHeaders(keyRing: KeyRing, id: string, headers: Record<string, string>) {
  const headerNames = Object.keys(headers);
  const none = headerNames.length === 0;
  return { headers: none ? null : encrypt(keyRing, id, JSON.stringify(headers)), headerNames };
}
