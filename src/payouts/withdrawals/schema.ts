import { z } from 'zod';

import { nameFields } from '../../access/names.ts';
import { id, links, reason, temporalUrl, timeline, providerReference } from '../../access/operator-schema.ts';
import { Quote } from '../../ledger/quote.ts';
import { ACCOUNT_NUMBER, ACCOUNT_NUMBER_RULE, BANK_CODES } from '../../lib/banks.ts';
import {
  birrAmount,
  birrParam,
  currencyEtb,
  instant,
  limitedText,
  patternText,
  plainText,
  reference,
} from '../../lib/fields.ts';
import { ruleOf } from '../../lib/issues.ts';
import { normalisePhone, PHONE_RULE } from '../../lib/phone.ts';
import { messageCode } from '../../lib/sandbox-reasons.ts';
import { entry, timelineSchema, type TimelineKinds } from '../../lib/timeline.ts';
import { CHANNELS } from '../../merchants/channels/channel.ts';
import { requestedByFields } from '../../merchants/operations.ts';
import { RESOLUTIONS } from '../../providers/states.ts';
import { outgoingQueries } from '../schema.ts';
import type { Destination } from './queries.ts';
import { REVIEW_REASONS, WITHDRAWAL_STAGES, WITHDRAWAL_STATUSES } from './states.ts';

const ACCOUNT_NAME_CHARACTERS_MAX = 100;
const REASON_CHARACTERS_MAX = 200;

const channel = z.enum(CHANNELS);

const DestinationFields = z.strictObject({
  phone: limitedText(20)
    .refine((text) => normalisePhone(text) !== null, PHONE_RULE)
    .transform((text) => normalisePhone(text) ?? text)
    .optional()
    .meta({ description: 'The wallet to pay to, where the channel pays to wallets', example: '0911000001' }),
  bankCode: z.enum(BANK_CODES).optional(),
  accountNumber: patternText(20, ACCOUNT_NUMBER, ACCOUNT_NUMBER_RULE).optional(),
  accountName: plainText(ACCOUNT_NAME_CHARACTERS_MAX).min(1).meta({ example: 'Abebe Bikila' }),
});

/** A phone, or a bank's code with an account number: one of the two. */
const destination = DestinationFields.transform((given, context): Destination => {
  const { phone, bankCode, accountNumber, accountName } = given;
  if (phone !== undefined && bankCode === undefined && accountNumber === undefined) {
    return { kind: 'phone', phone, accountName };
  }
  if (phone === undefined && bankCode !== undefined && accountNumber !== undefined) {
    return { kind: 'bank', bankCode, accountNumber, accountName };
  }
  const message = 'must have either phone, or bankCode and accountNumber';
  context.addIssue({ code: 'custom', message, params: ruleOf('phone_or_account') });
  return z.NEVER;
});

export const NewWithdrawal = z.strictObject({
  requestId: reference.meta({
    description: "The merchant's own id of the request, never reused: a repeat returns the same withdrawal",
    example: 'PAYROLL-2026-11-7',
  }),
  amount: birrAmount,
  currency: currencyEtb.default('ETB'),
  channel,
  destination,
  reason: plainText(REASON_CHARACTERS_MAX).min(1).optional(),
});

export const WithdrawalParams = z.strictObject({ withdrawalId: z.string().max(64) });
export const VerifyParams = z.strictObject({
  withdrawal_requestID: z.string().max(64).describe("Our withdrawalRequestId, or the merchant's requestId"),
});

export const { merchants: WithdrawalListQuery, operators: OperatorListQuery } = outgoingQueries({
  statuses: WITHDRAWAL_STATUSES,
  stages: WITHDRAWAL_STAGES,
  search: {
    merchants: 'A withdrawalRequestId, requestId or provider reference, whole',
    operators: "An id, the merchant's requestId or the provider's reference, whole",
  },
});

const text = z.string().optional();
const limits = { min: z.number(), max: z.number() };
const said = z.string();
const failure = z.object({ code: said, message: said, messageCode, providerCode: said, retryable: z.boolean() });

export const Withdrawal = z
  .object({
    withdrawalRequestId: z.string(),
    requestId: z.string(),
    amount: z.number().describe('What the beneficiary receives'),
    fee: z.number(),
    feeTax: z.number(),
    totalDebit: z.number().describe('What the balance is charged: amount + fee + feeTax'),
    paidAmount: z
      .number()
      .optional()
      .describe('What the beneficiary received, if not the amount: the difference was returned to the balance'),
    currency: z.literal('ETB'),
    channel,
    destination: z
      .object({ phone: text, bankCode: text, accountNumber: text, accountName: z.string() })
      .describe('Numbers show their last four digits only'),
    reason: text,
    status: z.enum(WITHDRAWAL_STATUSES),
    stage: z.enum(WITHDRAWAL_STAGES).optional().describe('The stage while PENDING'),
    pendingReason: text,
    reviewReasons: z.array(z.enum(REVIEW_REASONS)).optional(),
    providerReference: text,
    failure: failure.optional(),
    limitsApplied: z.object({ ...limits, daily: z.number().nullable(), usedTodayBefore: z.number() }),
    environment: z.enum(['sandbox', 'live']),
    requestedAt: instant,
    completedAt: instant.optional(),
    reversedAt: instant.optional(),
  })
  .meta({ id: 'Withdrawal' });

const result = {
  outcome: z.string(),
  providerCode: text,
  amountSantim: z.int().optional(),
  currency: text,
  providerReference: text,
};
const paid = { providerReference: z.string() };

/** The kinds of a withdrawal's timeline, and the `detail` of each. */
export const TIMELINE = {
  'withdrawal.created': entry('Requested: its money is reserved'),
  'confirmation.requested': entry('Waits for a second person of the merchant to confirm it'),
  'confirmation.given': entry('A second person of the merchant confirmed it'),
  'confirmation.declined': entry('Another person of the merchant declined it', { reason: z.string() }),
  'confirmation.expired': entry('No second person confirmed it within 7 days: it is cancelled'),
  'review.started': entry('Under review before it is sent', {
    reasons: z.array(z.enum(REVIEW_REASONS)),
    approvalsNeeded: z.int(),
  }),
  'review.approved': entry('An operator approved it', { approvalsMissing: z.int() }),
  'review.rejected': entry('An operator rejected it', { reason: z.string() }),
  'withdrawal.cancelled': entry('The merchant cancelled it'),
  'payout.submitted': entry('Sent to the provider'),
  'provider.responded': entry("The provider's report changed", result),
  'provider.conflict': entry(
    'The provider contradicts how the withdrawal ended: paid after it had declined, or the reverse',
    result,
  ),
  'payout.succeeded': entry('Paid out', paid),
  'payout.failed': entry('Not paid; the money is released', { code: z.string(), providerCode: z.string() }),
  'withdrawal.resolved': entry('Operators have resolved the outcome; paidSantim: what the beneficiary received', {
    outcome: z.enum(RESOLUTIONS),
    providerReference: z.string(),
    reason: z.string(),
    paidSantim: z.int().optional(),
  }),
  'payout.reversed': entry('Paid, and then reversed', paid),
} as const satisfies TimelineKinds;

export type TimelineKind = keyof typeof TIMELINE;

export const WithdrawalDetail = Withdrawal.extend({ timeline: timelineSchema(TIMELINE) }).meta({
  id: 'WithdrawalDetail',
});

const direction = z
  .object({
    ...limits,
    daily: z.number().nullable().describe('Per day in Addis Ababa; null: no daily limit'),
    remainingToday: z.number().nullable(),
  })
  .describe('ETB');

export const ChannelLimits = z
  .object({
    channel,
    currency: z.literal('ETB'),
    payoutTo: z.array(z.enum(['phone', 'bank'])).describe('Destinations of payouts; none: makes no payouts'),
    payIn: direction,
    payOut: direction,
  })
  .meta({ id: 'ChannelLimits' });

export const WithdrawalQuoteQuery = z.strictObject({ channel, amount: birrParam });

export const WithdrawalQuote = Quote.extend({
  channel,
  payoutTo: ChannelLimits.shape.payoutTo,
  limits: direction,
  needsSecondPerson: z.boolean().describe('Whether another person of the merchant has to confirm it'),
}).meta({ id: 'WithdrawalQuote' });

const WITHDRAWALS_MAX = 500;

export const QuotedWithdrawals = z.strictObject({
  withdrawals: z
    .array(z.record(z.string().max(64), z.unknown()))
    .min(1)
    .max(WITHDRAWALS_MAX)
    .describe('Each as the body of createWithdrawal; what is wrong with one is among its problems'),
});

const price = Quote.pick({ amount: true, fee: true, feeTax: true, totalDebit: true });

export const WithdrawalQuotes = z
  .object({
    lines: z.array(
      price.partial().extend({
        problems: Quote.shape.problems,
        needsSecondPerson: WithdrawalQuote.shape.needsSecondPerson.optional(),
        withdrawal: Withdrawal.optional().describe('The one of this requestId, if it was requested before'),
      }),
    ),
    total: price.extend({ count: z.int() }).describe('Of those that were not requested before'),
    available: z.number().describe('The available balance'),
  })
  .meta({ id: 'WithdrawalQuotes' });

export const OperatorParams = z.strictObject({ withdrawalId: id });

export const WithdrawalResolution = z.strictObject({
  outcome: z
    .enum(RESOLUTIONS)
    .describe('COMPLETED: the beneficiary has the money. FAILED: the beneficiary has none of it'),
  providerReference: providerReference.describe(
    "The provider's reference of the payout, or of its statement that there was none",
  ),
  paidAmount: birrAmount.optional().describe('With COMPLETED: what the beneficiary got, if that is not the amount'),
  reason,
});

export const OperatorWithdrawal = Withdrawal.omit({ withdrawalRequestId: true })
  .extend({
    withdrawalId: z.string(),
    merchantId: z.string(),
    stage: z.enum(WITHDRAWAL_STAGES),
    reviewReasons: z.array(z.enum(REVIEW_REASONS)),
    approvalsNeeded: z.int(),
    temporalUrl: temporalUrl.optional(),
  })
  .meta({ id: 'OpsWithdrawal' });

export const ListedWithdrawal = OperatorWithdrawal.extend(nameFields('merchantId')).meta({ id: 'OpsListedWithdrawal' });

export const ResolvedWithdrawal = OperatorWithdrawal.extend({
  othersNeeded: z.int().describe('How many other operators must resolve it in the same way'),
}).meta({ id: 'OpsResolvedWithdrawal' });

export const OperatorWithdrawalDetail = OperatorWithdrawal.extend({
  ...requestedByFields,
  confirmedBy: z.string().nullable().describe('usr_…: the second person of the merchant; null: none'),
  ...nameFields('confirmedBy'),
  confirmedAt: instant.nullable(),
  destination: OperatorWithdrawal.shape.destination.extend({ bankName: z.string().optional() }).describe('Unmasked'),
  approvals: z.array(
    z.object({
      operatorId: z.string(),
      operatorName: z.string().nullable(),
      at: instant,
      reason: z.string().nullable(),
    }),
  ),
  approvalsMissing: z.int(),
  paidBefore: z
    .object({ count: z.int(), amount: z.number(), lastAt: instant.nullable(), accountNames: z.array(z.string()) })
    .describe('Earlier payouts of this merchant to the same phone or account, and their account names'),
  providerCode: z.string().nullable(),
  lastOutcome: z.string().nullable().describe("The provider's latest response"),
  submittedAt: instant.nullable(),
  timeline,
  links,
}).meta({ id: 'OpsWithdrawalDetail' });
