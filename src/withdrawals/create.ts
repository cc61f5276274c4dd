import { randomBytes } from 'node:crypto';

import { feeOf, readFeeRule, type FeeRuleJson } from '../ledger/fees.ts';
import { insufficientBalance, post } from '../ledger/post.ts';
import { reservePosting, totalDebit } from '../ledger/postings.ts';
import type { Clock } from '../lib/clock.ts';
import { addisDay, startOfAddisDay } from '../lib/dates.ts';
import { rows } from '../lib/db.ts';
import { AppError, invalid } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Santim } from '../lib/money.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { whyUnusable, type Channel, type ChannelFacts } from '../merchants/channels/channel.ts';
import { amountLimitError, type DayLimit } from '../merchants/channels/limits.ts';
import { channelRejected } from '../merchants/channels/operations.ts';
import { readLimits, type AmountLimits, type LimitsJson } from '../merchants/channels/queries.ts';
import { OUTBOX_INSERT, type UnitOfWork, type OutboxRow } from '../outbox/record.ts';
import type { FindProvider } from '../providers/provider.ts';
import { beneficiaryOf, type Destination } from './destination.ts';
import { recordWithdrawalEvents } from './events.ts';
import { destinationOf, findWithdrawal, toPayout, type LimitsApplied, type WithdrawalRow } from './model.ts';
import { assessReview, type ReviewPolicy } from './review.ts';
import { withdrawalWorkflow } from './workflow-input.ts';

export type NewWithdrawal = {
  requestId: string;
  amountSantim: Santim;
  channel: Channel;
  destination: Destination;
  reason?: string | undefined;
  /** key_… or opr_…: who asks may not approve. */
  requestedBy: string;
};

export type CreateDeps = { tx: UnitOfWork; clock: Clock; findProvider: FindProvider };

/** All that a withdrawal is judged by, as `withdrawal_preflight` answers it. */
type Context = {
  existingId: string | null;
  channel: Omit<ChannelFacts, 'configured'>;
  limits: LimitsJson;
  feeRule: FeeRuleJson;
  policy: { largeAmountSantim: number; twoPersonSantim: number; perHourMax: number };
  /** A look ahead: what is not there is refused before anything is written, and the ledger has the last word. */
  availableSantim: number;
  usedTodaySantim: number;
  inLastHour: number;
  paidThereBefore: boolean;
  firstPaidThereAsAt: string | null;
};

/**
 * Asks for money out: judges it, sets its amount, fee and tax aside, and starts its workflow. Five statements. The same
 * requestId and body again is the same withdrawal (`isNew: false`), for ever.
 * Throws DUPLICATE_REFERENCE, CHANNEL_NOT_AVAILABLE, CHANNEL_DISABLED, VALIDATION_ERROR, AMOUNT_BELOW_MINIMUM,
 * AMOUNT_ABOVE_MAXIMUM, DAILY_LIMIT_EXCEEDED, INSUFFICIENT_BALANCE.
 */
export async function createWithdrawal(
  deps: CreateDeps,
  scope: MerchantScope,
  wanted: NewWithdrawal,
): Promise<{ row: WithdrawalRow; isNew: boolean }> {
  const { tx, clock } = deps;
  const now = clock();
  const context = await readContext(tx, scope, { ...wanted, now });
  if (context.existingId !== null) {
    return {
      row: requireSame(await findWithdrawal(tx.trx, scope, context.existingId), wanted),
      isNew: false,
    };
  }
  channelError(deps, scope, { wanted, context });
  const limits = readLimits(context.limits);
  const day = dayOf(limits, context.usedTodaySantim);
  const rejection = amountLimitError(wanted.channel, { ...limits, day }, wanted.amountSantim);
  if (rejection) throw rejection;
  const planned = newRow(scope, wanted, { context, now });
  const takes = totalDebit(planned);
  const availableSantim = BigInt(context.availableSantim);
  if (takes > availableSantim) throw insufficientBalance('withdrawal', { takes, availableSantim });

  const row = await insertWithdrawal(tx, planned);
  const events = ['withdrawal.created', 'withdrawal.under_review'] as const;
  await recordWithdrawalEvents(tx, { row, events: events.slice(0, row.stage === 'CREATED' ? 1 : 2), at: now });
  await post(tx.trx, reservePosting(toPayout(row)), now);
  return { row, isNew: true };
}

async function readContext(
  tx: UnitOfWork,
  scope: MerchantScope,
  wanted: NewWithdrawal & { now: Date },
): Promise<Context> {
  const [found] = await rows<{ context: Context }>(
    tx.trx,
    `SELECT withdrawal_preflight(:merchantId, :environment, :requestId, :channel, :beneficiary, :accountName, :dayStart,
                               :now) AS context`,
    {
      ...scopeOf(scope),
      requestId: wanted.requestId,
      channel: wanted.channel,
      beneficiary: beneficiaryOf(wanted.destination),
      accountName: wanted.destination.accountName,
      dayStart: startOfAddisDay(addisDay(wanted.now)),
      now: wanted.now,
    },
  );
  if (!found) throw new Error('withdrawal_preflight did not answer');
  return found.context;
}

/** A repeat is the same in every field; anything else under the same requestId is another withdrawal. */
function requireSame(row: WithdrawalRow, wanted: NewWithdrawal): WithdrawalRow {
  const isSame =
    row.amountSantim === wanted.amountSantim &&
    row.channel === wanted.channel &&
    beneficiaryOf(destinationOf(row)) === beneficiaryOf(wanted.destination) &&
    row.accountName === wanted.destination.accountName &&
    row.reason === (wanted.reason ?? null);
  if (isSame) return row;
  const issue = `"${wanted.requestId}" was used before for another withdrawal, ${row.id}; use a new one`;
  throw new AppError('DUPLICATE_REFERENCE', `requestId ${issue}`, {
    details: [{ field: 'requestId', issue }],
    existing: { withdrawalRequestId: row.id },
  });
}

function channelError(
  { findProvider }: CreateDeps,
  { environment }: MerchantScope,
  { wanted, context }: { wanted: NewWithdrawal; context: Context },
): void {
  const { channel, destination } = wanted;
  const provider = findProvider(channel, environment);
  const reason = whyUnusable({ ...context.channel, configured: provider !== null });
  if (reason !== null || provider === null) throw channelRejected(channel, reason ?? 'NOT_CONFIGURED');
  const { payoutTo } = provider.capabilities;
  if (payoutTo.includes(destination.kind)) return;
  const issue = `${channel} pays out to a ${payoutTo.join(' or a ')}, not to a ${destination.kind}`;
  throw invalid('destination', issue, { message: `destination: ${issue}` });
}

/** What remains of the day, where it has a limit. */
function dayOf({ dailySantim }: AmountLimits, usedTodaySantim: number): DayLimit | null {
  if (dailySantim === null) return null;
  const leftSantim = dailySantim - BigInt(usedTodaySantim);
  return { dailySantim, leftSantim: leftSantim < 0n ? 0n : leftSantim };
}

type NewRow = Omit<
  WithdrawalRow,
  | 'providerReference'
  | 'providerCode'
  | 'lastOutcome'
  | 'failure'
  | 'leaseUntil'
  | 'lastCheckedAt'
  | 'version'
  | 'submittedAt'
  | 'completedAt'
  | 'reversedAt'
  | 'firstReportedPaidAt'
  | 'conflictDetectedAt'
  | 'conflictResolvedAt'
  | 'paidSantim'
>;

function newRow(
  scope: MerchantScope,
  wanted: NewWithdrawal,
  { context, now }: { context: Context; now: Date },
): NewRow {
  const { amountSantim, channel, destination } = wanted;
  const { reasons, approvalsNeeded } = assessReview({
    ...context,
    environment: scope.environment,
    amountSantim,
    policy: readPolicy(context.policy),
    firstPaidThereAsAt: context.firstPaidThereAsAt === null ? null : new Date(context.firstPaidThereAsAt),
    at: now,
  });
  const limitsApplied: LimitsApplied = { ...context.limits, usedTodaySantim: context.usedTodaySantim };
  return {
    ...scopeOf(scope),
    id: newId('wd', now.getTime()),
    requestId: wanted.requestId,
    amountSantim,
    ...feeOf(readFeeRule(context.feeRule), amountSantim),
    currency: 'ETB',
    channel,
    phone: destination.kind === 'phone' ? destination.phone : null,
    bankCode: destination.kind === 'bank' ? destination.bankCode : null,
    accountNumber: destination.kind === 'bank' ? destination.accountNumber : null,
    accountName: destination.accountName,
    reason: wanted.reason ?? null,
    status: 'PENDING',
    stage: approvalsNeeded === 0 ? 'CREATED' : 'UNDER_REVIEW',
    reviewReasons: reasons,
    approvalsNeeded,
    limitSnapshot: limitsApplied,
    callbackSecret: randomBytes(24).toString('base64url'),
    requestedBy: wanted.requestedBy,
    requestedAt: now,
  };
}

function readPolicy({ largeAmountSantim, twoPersonSantim, perHourMax }: Context['policy']): ReviewPolicy {
  return { largeAmountSantim: BigInt(largeAmountSantim), twoPersonSantim: BigInt(twoPersonSantim), perHourMax };
}

async function insertWithdrawal(tx: UnitOfWork, row: NewRow): Promise<WithdrawalRow> {
  const start: OutboxRow = {
    id: newId('obx'),
    kind: 'start',
    ...withdrawalWorkflow({ ...row, withdrawalId: row.id }),
  };
  const [inserted] = await rows<WithdrawalRow>(
    tx.trx,
    `WITH added AS (
       INSERT INTO withdrawal (id, merchant_id, environment, request_id, amount_santim, fee_santim, fee_tax_santim, currency,
         channel, phone, bank_code, account_number, account_name, reason, status, stage, review_reasons, approvals_needed,
         limit_snapshot, callback_secret, requested_by, requested_at, created_at)
       VALUES (:id, :merchantId, :environment, :requestId, :amountSantim, :feeSantim, :feeTaxSantim, :currency,
         :channel, :phone, :bankCode, :accountNumber, :accountName, :reason, :status, :stage, :reviewReasons,
         :approvalsNeeded, CAST(:limits AS jsonb), :callbackSecret, :requestedBy, :requestedAt,
         :requestedAt)
       RETURNING *
     ), timeline_row AS (
       INSERT INTO withdrawal_timeline (withdrawal_id, occurred_at, kind, detail)
       SELECT id, requested_at, 'withdrawal.created', jsonb_build_object() FROM added
       UNION ALL
       SELECT id, requested_at, 'review.started',
              jsonb_build_object('reasons', review_reasons, 'approvalsNeeded', approvals_needed)
       FROM added WHERE stage = 'UNDER_REVIEW'
     ), outbox_row AS (${OUTBOX_INSERT})
     SELECT * FROM added`,
    { ...row, limits: JSON.stringify(row.limitSnapshot), messages: JSON.stringify([start]) },
  );
  tx.enqueued([start]);
  if (!inserted) throw new Error('the withdrawal was not inserted');
  return inserted;
}
