import { randomBytes } from 'node:crypto';

import { listConfirmers } from '../../access/users/team.ts';
import { feeOf, readFeeRule, type FeeRuleJson } from '../../ledger/fees.ts';
import { post } from '../../ledger/post.ts';
import { reservePosting } from '../../ledger/postings.ts';
import type { Clock } from '../../lib/clock.ts';
import { addisDay, startOfAddisDay } from '../../lib/dates.ts';
import { first, insertSql } from '../../lib/db.ts';
import { duplicate, found, invalid, type AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import { TIMELINE_INSERT } from '../../lib/timeline.ts';
import { isConfigured, whyUnusable, type Channel, type ChannelFacts } from '../../merchants/channels/channel.ts';
import { amountLimitError, type DayLimit } from '../../merchants/channels/limits.ts';
import { channelRejected } from '../../merchants/channels/operations.ts';
import {
  readLimits,
  type AmountLimits,
  type LimitsJson,
  type OpenMaintenance,
} from '../../merchants/channels/queries.ts';
import { notifyMembers } from '../../outbox/mail.ts';
import { OUTBOX_INSERT, type UnitOfWork, type OutboxRow } from '../../outbox/record.ts';
import type { FindProvider } from '../../providers/provider.ts';
import { confirmableUntil } from '../states.ts';
import { recordWithdrawalEvents } from './events.ts';
import { beneficiaryOf, destinationOf, findWithdrawal, toPayout } from './queries.ts';
import type { Destination, WithdrawalRow } from './queries.ts';
import { assessReview, type ReviewFacts } from './review.ts';
import { stageAfterConfirmation } from './states.ts';
import { withdrawalWorkflow } from './workflow.ts';

export type NewWithdrawal = Pick<WithdrawalRow, 'amountSantim' | 'channel' | 'requestedBy'> & {
  requestId: string;
  destination: Destination;
  reason?: string | undefined;
};

export type CreateDeps = { tx: UnitOfWork; clock: Clock; findProvider: FindProvider };

/** What `withdrawal_preflight` returns: everything that the decision about a new withdrawal depends on. */
type Preflight = Pick<ReviewFacts, 'policy' | 'inLastHour' | 'paidThereBefore' | 'firstPaidThereAsAt'> & {
  existingId: string | null;
  channel: Omit<ChannelFacts, 'configured' | 'unavailable'> & {
    hasOwnAccount: boolean;
    openMaintenance: OpenMaintenance | null;
  };
  limits: LimitsJson;
  feeRule: FeeRuleJson;
  usedTodaySantim: number;
  /** From this amount on a second person of the merchant confirms it; null: none does. */
  secondPersonFromSantim: number | null;
};

/**
 * Requests a withdrawal: checks it, reserves its amount, fee and tax, and starts its workflow. Five statements.
 * Idempotent by requestId, without an expiry: a repeat with the same body returns the same withdrawal (`isNew: false`).
 * Throws DUPLICATE_REFERENCE, CHANNEL_NOT_AVAILABLE, CHANNEL_DISABLED, VALIDATION_ERROR, AMOUNT_BELOW_MINIMUM,
 * AMOUNT_ABOVE_MAXIMUM, DAILY_LIMIT_EXCEEDED, INSUFFICIENT_BALANCE.
 */
export async function createWithdrawal(
  deps: CreateDeps,
  scope: MerchantScope,
  request: NewWithdrawal,
): Promise<{ row: WithdrawalRow; isNew: boolean }> {
  const { tx, clock } = deps;
  const now = clock();
  const preflight = await readPreflight(tx, scope, { ...request, now });
  if (preflight.existingId !== null) {
    const row = await findWithdrawal(tx.trx, scope, preflight.existingId);
    const rejection = reuseError(row, request);
    if (rejection) throw rejection;
    return { row, isNew: false };
  }
  ensureChannelUsable(deps, scope, { request, preflight });
  const limits = readLimits(preflight.limits);
  const day = dayLimit(limits, BigInt(preflight.usedTodaySantim));
  const rejection = amountLimitError(request.channel, { ...limits, day }, request.amountSantim);
  if (rejection) throw rejection;

  const row = await insertWithdrawal(tx, newRow(scope, request, { preflight, now }));
  const events = ['withdrawal.created', 'withdrawal.under_review'] as const;
  await recordWithdrawalEvents(tx, { row, events: events.slice(0, row.stage === 'UNDER_REVIEW' ? 2 : 1), at: now });
  if (row.stage === 'AWAITING_CONFIRMATION') await requestConfirmation(tx, row);
  await post(tx.trx, reservePosting(toPayout(row)), now);
  return { row, isNew: true };
}

async function readPreflight(
  tx: UnitOfWork,
  scope: MerchantScope,
  { requestId, channel, destination, now }: NewWithdrawal & { now: Date },
): Promise<Preflight> {
  const sql = `SELECT withdrawal_preflight(:merchantId, :environment, :requestId, :channel, :beneficiary, :accountName,
    :dayStart, :now) AS preflight`;
  const to = { channel, beneficiary: beneficiaryOf(destination), accountName: destination.accountName };
  const values = { ...scopeOf(scope), requestId, ...to, dayStart: startOfAddisDay(addisDay(now)), now };
  return found(await first<{ preflight: Preflight }>(tx.trx, sql, values), 'withdrawal').preflight;
}

type Requested = Omit<NewWithdrawal, 'requestedBy'>;

/** The error of a request with the requestId of another withdrawal; null: the request is the same in every field. */
export function reuseError(row: WithdrawalRow, request: Requested): AppError | null {
  const isSame =
    row.amountSantim === request.amountSantim &&
    row.channel === request.channel &&
    beneficiaryOf(destinationOf(row)) === beneficiaryOf(request.destination) &&
    row.accountName === request.destination.accountName &&
    row.reason === (request.reason ?? null);
  if (isSame) return null;
  const issue = `"${request.requestId}" was used before for another withdrawal, ${row.id}; use a new one`;
  return duplicate('requestId', issue, { withdrawalRequestId: row.id });
}

function ensureChannelUsable(
  { findProvider }: CreateDeps,
  { environment }: MerchantScope,
  { request, preflight }: { request: NewWithdrawal; preflight: Preflight },
): void {
  const { channel, destination } = request;
  const provider = findProvider(channel, environment);
  const configured = isConfigured(provider, preflight.channel.hasOwnAccount);
  // While its provider does not respond, a withdrawal is accepted and waits: it is sent once the provider responds.
  const reason = whyUnusable({ ...preflight.channel, configured, unavailable: false });
  if (reason !== null || provider === null)
    throw channelRejected(channel, reason ?? 'NOT_CONFIGURED', preflight.channel);
  const rejection = destinationError(channel, { kind: destination.kind, payoutTo: provider.capabilities.payoutTo });
  if (rejection) throw rejection;
}

/** The error of a destination that the channel does not pay to; null: it does. */
export function destinationError(
  channel: Channel,
  { kind, payoutTo }: { kind: Destination['kind']; payoutTo: readonly Destination['kind'][] },
): AppError | null {
  if (payoutTo.includes(kind)) return null;
  if (payoutTo.length === 0) {
    const issue = `${channel} makes no payouts: choose a channel whose payoutTo at GET /api/checkout/limits is not empty`;
    const more = { code: 'CHANNEL_NOT_AVAILABLE', message: `channel ${issue}` } as const;
    return invalid('channel', { issue, code: 'no_payouts' }, more);
  }
  const issue = `${channel} pays out to a ${payoutTo.join(' or a ')}, not to a ${kind}`;
  return invalid('destination', { issue, code: 'wrong_destination' }, { message: `destination: ${issue}` });
}

/** What is left of the daily limit; null without one. */
export function dayLimit({ dailySantim }: AmountLimits, usedSantim: Santim): DayLimit | null {
  if (dailySantim === null) return null;
  return { dailySantim, leftSantim: dailySantim > usedSantim ? dailySantim - usedSantim : 0n };
}

/** The columns of a new withdrawal that have no default. */
function newRow(scope: MerchantScope, request: NewWithdrawal, { preflight, now }: { preflight: Preflight; now: Date }) {
  const { requestId, amountSantim, channel, destination, reason = null, requestedBy } = request;
  const { environment } = scope;
  const { reasons, approvalsNeeded } = assessReview({ ...preflight, environment, amountSantim, at: now });
  const { kind: _, ...account } = destination;
  const { secondPersonFromSantim: from } = preflight;
  const needsSecondPerson = from !== null && amountSantim >= BigInt(from);
  return {
    ...scopeOf(scope),
    id: newId('wd', now.getTime()),
    kind: 'withdrawal',
    reference: requestId,
    amountSantim,
    ...feeOf(readFeeRule(preflight.feeRule), amountSantim),
    currency: 'ETB',
    channel,
    ...account,
    reason,
    status: 'PENDING',
    stage: needsSecondPerson ? 'AWAITING_CONFIRMATION' : stageAfterConfirmation({ approvalsNeeded }),
    reviewReasons: reasons,
    approvalsNeeded,
    limitSnapshot: { ...preflight.limits, usedTodaySantim: preflight.usedTodaySantim },
    callbackSecret: randomBytes(24).toString('base64url'),
    requestedBy,
    requestedAt: now,
    createdAt: now,
  } satisfies Partial<WithdrawalRow> & { createdAt: Date };
}

/** Mails the members who may confirm it, but for the requester. */
async function requestConfirmation(tx: UnitOfWork, row: WithdrawalRow): Promise<void> {
  const { id: withdrawalId, reference: requestId, channel } = row;
  await notifyMembers(tx, row, {
    kind: 'withdrawal.awaiting',
    userIds: await listConfirmers(tx.trx, row, 'withdrawals:write'),
    withdrawalId,
    requestId,
    amount: formatBirr(row.amountSantim),
    channel,
    until: addisDay(confirmableUntil(row.requestedAt)),
  });
}

/** One statement: the row, its timeline, and the outbox message of its workflow. */
async function insertWithdrawal(tx: UnitOfWork, row: ReturnType<typeof newRow>): Promise<WithdrawalRow> {
  const start: OutboxRow = { id: newId('obx'), kind: 'start', ...withdrawalWorkflow(row), traceparent: tx.traceparent };
  const inserted = await first<WithdrawalRow>(
    tx.trx,
    `WITH added AS (${insertSql('payout', row)}), timeline_row AS (
       ${TIMELINE_INSERT}
       SELECT id, requested_at, 'withdrawal.created', jsonb_build_object() FROM added
       UNION ALL
       SELECT id, requested_at, 'review.started',
              jsonb_build_object('reasons', review_reasons, 'approvalsNeeded', approvals_needed)
       FROM added WHERE stage = 'UNDER_REVIEW'
       UNION ALL
       SELECT id, requested_at, 'confirmation.requested', jsonb_build_object()
       FROM added WHERE stage = 'AWAITING_CONFIRMATION'
     ), outbox_row AS (${OUTBOX_INSERT})
     SELECT * FROM added`,
    { ...row, messages: JSON.stringify([start]) },
  );
  tx.enqueued([start]);
  return found(inserted, 'withdrawal');
}
