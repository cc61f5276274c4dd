import { randomBytes } from 'node:crypto';

import { listConfirmers } from '../../access/users/team.ts';
import { feeReturned, isFeeReturnable } from '../../ledger/fees.ts';
import { post } from '../../ledger/post.ts';
import { reservePosting } from '../../ledger/postings.ts';
import type { Clock } from '../../lib/clock.ts';
import { addisDay } from '../../lib/dates.ts';
import { first, insertSql, type Trx } from '../../lib/db.ts';
import { duplicate, found, invalid, invalidState } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { tooBig } from '../../lib/issues.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import { isConfigured } from '../../merchants/channels/channel.ts';
import { channelRejected } from '../../merchants/channels/operations.ts';
import { readSecondPersonFrom } from '../../merchants/operations.ts';
import { notifyMembers } from '../../outbox/mail.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import type { AttemptRow, TransactionRow } from '../../payments/queries.ts';
import { recordRefundTimeline } from '../../payments/timeline.ts';
import type { FindProvider } from '../../providers/provider.ts';
import { confirmableUntil } from '../states.ts';
import { recordRefundEvent } from './events.ts';
import { findByReference, listRefundsOf, paidOf, toPayout, type RefundRow } from './queries.ts';
import { refundWorkflow } from './workflow.ts';

export type NewRefund = Pick<RefundRow, 'transactionId' | 'reference' | 'returnFee' | 'requestedBy'> & {
  /** What is left of the payment unless given. */
  amountSantim?: Santim | undefined;
  reason?: string | undefined;
};

/** So that the requests of one payment, each of which reads all of its refunds, stay short. */
const REFUNDS_PER_PAYMENT_MAX = 100;

type Created = { row: RefundRow; isNew: boolean };

/**
 * Requests a refund of a part or all of what a payment has left: reserves its money and starts its workflow. Requests for one
 * payment run one after the other. Idempotent by reference, without an expiry: a repeat with the same body returns the same
 * refund (`isNew: false`). Throws NOT_FOUND, DUPLICATE_REFERENCE, INVALID_STATE, AMOUNT_ABOVE_MAXIMUM,
 * CHANNEL_NOT_AVAILABLE without an account at the provider, INSUFFICIENT_BALANCE.
 */
export async function createRefund(
  { tx, clock, findProvider }: { tx: UnitOfWork; clock: Clock; findProvider: FindProvider },
  scope: MerchantScope,
  request: NewRefund,
): Promise<Created> {
  const { trx } = tx;
  const at = clock();
  const payment = await lockTransaction(trx, scope, request.transactionId);
  const earlier = await findByReference(trx, scope, request.reference);
  if (earlier) return repeated(earlier, request);
  const { amountSantim, usedSantim, fee } = shareOf(payment, await listRefundsOf(trx, payment.id), request);
  if (request.returnFee && !(await isFeeReturnable(trx, payment))) {
    const issue = "must be false: the merchant's fees for this payment are kept";
    throw invalid('returnFee', { issue, code: 'not_allowed' });
  }
  const { hasOwnAccount, ...paidBy } = await readPaidAttempt(trx, payment);
  const provider = findProvider(paidBy.channel, scope.environment);
  // While its provider does not respond, a refund is accepted and waits; without an account there it would wait for ever.
  if (!isConfigured(provider, hasOwnAccount)) {
    throw channelRejected(paidBy.channel, 'NOT_CONFIGURED', { field: 'transactionId' });
  }
  if (!provider?.capabilities.refunds) {
    throw invalidState(`${paidBy.channel} makes no refunds: return the money in another way.`);
  }
  const from = await readSecondPersonFrom(trx, scope.merchantId);
  // With the refunds before it, so that parts of a payment do not need less than the whole.
  const needsSecondPerson = from !== null && usedSantim + amountSantim >= from;
  const row = await insertRefund(trx, {
    ...scopeOf(scope),
    ...paidBy,
    id: newId('rfd', at.getTime()),
    kind: 'refund',
    transactionId: payment.id,
    reference: request.reference,
    amountSantim,
    isRemainder: request.amountSantim === undefined,
    returnFee: request.returnFee,
    feeSantim: -fee.feeSantim,
    feeTaxSantim: -fee.feeTaxSantim,
    currency: payment.currency,
    reason: request.reason ?? null,
    status: 'PENDING',
    stage: needsSecondPerson ? 'AWAITING_CONFIRMATION' : 'CREATED',
    requestedBy: request.requestedBy,
    callbackSecret: randomBytes(24).toString('base64url'),
    requestedAt: at,
    createdAt: at,
  });
  if (!row) return repeated(found(await findByReference(trx, scope, request.reference), 'refund'), request);
  const created = { amountSantim: Number(amountSantim), awaitsConfirmation: needsSecondPerson };
  await recordRefundTimeline(trx, row, { at, kind: 'refund.created', detail: created });
  await recordRefundEvent(tx, { row, event: 'refund.created', at });
  if (needsSecondPerson) await requestConfirmation(tx, row);
  await tx.enqueue([{ kind: 'start', ...refundWorkflow(row) }]);
  await post(trx, reservePosting(toPayout(row)), at);
  return { row, isNew: true };
}

/** Locks a transaction of the merchant until the end of the database transaction. Throws NOT_FOUND. */
async function lockTransaction(trx: Trx, scope: MerchantScope, transactionId: string): Promise<TransactionRow> {
  const sql = `SELECT * FROM transaction
    WHERE id = :transactionId AND merchant_id = :merchantId AND environment = :environment FOR UPDATE`;
  return found(await first<TransactionRow>(trx, sql, { ...scopeOf(scope), transactionId }), 'transaction');
}

/** The same refund for the same request. Throws DUPLICATE_REFERENCE for another one. */
function repeated(row: RefundRow, request: NewRefund): Created {
  const isSame =
    row.transactionId === request.transactionId &&
    row.isRemainder === (request.amountSantim === undefined) &&
    row.amountSantim === (request.amountSantim ?? row.amountSantim) &&
    row.returnFee === request.returnFee &&
    row.reason === (request.reason ?? null);
  if (isSame) return { row, isNew: false };
  const issue = `"${request.reference}" was used before for another refund, ${row.id}; use a new one`;
  throw duplicate('reference', issue, { refundId: row.id });
}

/** What of a payment the refund returns, and what of its fee. Throws INVALID_STATE, AMOUNT_ABOVE_MAXIMUM. */
function shareOf(
  payment: TransactionRow,
  refunds: Awaited<ReturnType<typeof listRefundsOf>>,
  { amountSantim, returnFee }: NewRefund,
) {
  const { status, holdReason, receivedSantim } = payment;
  if (status !== 'SUCCESS')
    throw invalidState(`This transaction is ${status}: only one that is SUCCESS can be refunded.`);
  if (holdReason !== null) {
    throw invalidState('Money of this transaction is held: it can be refunded once operators have decided about it.');
  }
  if (refunds.length >= REFUNDS_PER_PAYMENT_MAX) {
    const most = `This transaction has ${refunds.length} refunds, as many as one may have, with those that have failed`;
    throw invalidState(`${most}: ask our support to return what is left of it.`);
  }
  const paidSantim = receivedSantim ?? payment.amountSantim;
  // One that is reported as paid after it had failed may have paid its part: it is free once operators have decided so.
  const counted = refunds.filter(({ isCounted }) => isCounted);
  const sum = (some: readonly RefundRow[], of: (one: RefundRow) => Santim): Santim =>
    some.reduce((total, one) => total + of(one), 0n);
  const usedSantim = sum(counted, paidOf);
  const leftSantim = paidSantim - usedSantim;
  const state = `${formatBirr(paidSantim)} ETB were paid, and ${formatBirr(usedSantim)} ETB are refunded or being refunded`;
  if (leftSantim <= 0n) throw invalidState(`Nothing is left to refund: ${state}.`);
  const amount = amountSantim ?? leftSantim;
  if (amount > leftSantim) {
    const issue = `must be at most ${formatBirr(leftSantim)} ETB: ${state}`;
    throw invalid('amount', tooBig(issue, leftSantim), { code: 'AMOUNT_ABOVE_MAXIMUM' });
  }
  const withFee = counted.filter((one) => one.returnFee);
  const before = {
    // No fee is given back for what the provider has overpaid.
    amountSantim: sum(withFee, (one) => (paidOf(one) < one.amountSantim ? paidOf(one) : one.amountSantim)),
    feeSantim: -sum(withFee, (one) => one.feeSantim),
    feeTaxSantim: -sum(withFee, (one) => one.feeTaxSantim),
  };
  const taken = { feeSantim: payment.feeSantim ?? 0n, feeTaxSantim: payment.feeTaxSantim ?? 0n };
  const none = { feeSantim: 0n, feeTaxSantim: 0n };
  const fee = returnFee ? feeReturned({ paidSantim, fee: taken, before, amountSantim: amount }) : none;
  return { amountSantim: amount, usedSantim, fee };
}

/** The attempt by which a SUCCESS transaction was paid, and whether the merchant has its own account at the provider. */
async function readPaidAttempt(trx: Trx, payment: TransactionRow) {
  const sql = `SELECT id AS attempt_id, channel, provider_account,
      :environment = 'live' AND has_own_account(:merchantId, :environment, channel) AS has_own_account
    FROM payment_attempt WHERE transaction_id = :id AND status = 'SUCCEEDED'`;
  type Paid = Pick<RefundRow, 'attemptId'> & Pick<AttemptRow, 'channel' | 'providerAccount'>;
  return found(await first<Paid & { hasOwnAccount: boolean }>(trx, sql, payment), 'paid attempt');
}

/** Undefined where a concurrent request for another payment has taken the reference. */
async function insertRefund(trx: Trx, row: Partial<RefundRow> & { createdAt: Date }): Promise<RefundRow | undefined> {
  const sql = insertSql('payout', row).replace(
    'RETURNING',
    'ON CONFLICT (reference, merchant_id, environment, kind) DO NOTHING RETURNING',
  );
  return first<RefundRow>(trx, sql, row);
}

/** Mails the members who may confirm it, but for the requester. */
async function requestConfirmation(tx: UnitOfWork, row: RefundRow): Promise<void> {
  const { id: refundId, transactionId, reference } = row;
  await notifyMembers(tx, row, {
    kind: 'refund.awaiting',
    userIds: await listConfirmers(tx.trx, row, 'refunds:write'),
    refundId,
    transactionId,
    reference,
    amount: formatBirr(row.amountSantim),
    until: addisDay(confirmableUntil(row.requestedAt)),
  });
}
