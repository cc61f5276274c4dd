import { z } from 'zod';

import {
  AuditEntry,
  environment,
  id,
  links,
  providerReference,
  reason,
  requestListQuery,
  temporalUrl,
  timeline,
} from '../access/operator-schema.ts';
import { Movement } from '../ledger/balance.ts';
import { birrAmount, birrParam, currencyEtb, instant, mustBe, patternText, reference } from '../lib/fields.ts';
import { ruleOf } from '../lib/issues.ts';
import { formatBirr } from '../lib/money.ts';
import { dateParam, isPositionOf, sortedPageQuery, statusParam } from '../lib/pagination.ts';
import { timelineSchema } from '../lib/timeline.ts';
import { CHANNELS, TRANSACTION_THROUGH } from '../merchants/channels/channel.ts';
import { PAYER_DECISIONS } from '../providers/provider.ts';
import { ResourceDelivery } from '../webhooks/events/queries.ts';
import { ATTEMPT_STATUSES, HELD_REASONS, TRANSACTION_STATUSES } from './states.ts';
import { TIMELINE } from './timeline.ts';

const SEARCH_CHARACTERS_MAX = 100;
/** The longest range of days. */
export const MIN_AGE_MINUTES_MAX = 93 * 24 * 60;

const minAgeMinutes = patternText(6, /^[1-9]\d*$/, mustBe(`a whole number from 1 to ${MIN_AGE_MINUTES_MAX}`))
  .transform(Number)
  .pipe(z.int().max(MIN_AGE_MINUTES_MAX))
  .meta({ override: { type: 'integer', minimum: 1, maximum: MIN_AGE_MINUTES_MAX } });

const transactionType = z.enum(['API', 'QRCODE']);
const transactionStatus = z.enum(TRANSACTION_STATUSES);
const transactionThrough = z.enum(Object.values(TRANSACTION_THROUGH));

const flag = (description: string) =>
  z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .meta({ description, override: { type: 'boolean' } });

const throughList = statusParam(Object.values(TRANSACTION_THROUGH)).optional();
const search = z
  .string()
  .min(1)
  .max(SEARCH_CHARACTERS_MAX)
  .optional()
  .describe(
    'A part of the order number, customer name, e-mail or customer phone, a whole id, or a whole phone that was paid from; phones in any form: 09…, 2519… or +2519…',
  );

/** The filter of the list: the contract's four parameters are required, the rest narrows. */
const filter = {
  startDate: dateParam,
  endDate: dateParam,
  status: statusParam(TRANSACTION_STATUSES),
  currency: currencyEtb,
  transactionThrough: throughList,
  type: transactionType.optional(),
  held: flag('Whether its money is held because of an unexpected amount, currency or reference').optional(),
  late: flag('Whether it was paid after the session had ended').optional(),
  minAgeMinutes: minAgeMinutes.optional().describe('Created at least so many minutes ago'),
  search,
  minAmount: birrParam.optional(),
  maxAmount: birrParam.optional(),
};

type Amounts = { minAmount?: bigint | undefined; maxAmount?: bigint | undefined };

function checkAmounts({ minAmount, maxAmount }: Amounts, context: z.RefinementCtx): void {
  if (minAmount === undefined || maxAmount === undefined || minAmount <= maxAmount) return;
  const message = `must not be more than maxAmount, got ${formatBirr(minAmount)} and ${formatBirr(maxAmount)}`;
  context.addIssue({ code: 'custom', message, path: ['minAmount'], params: ruleOf('min_above_max') });
}

/** What narrows the list beside days, status and currency, as JSON: of reports. */
export const TransactionNarrowing = z.object({
  transactionThrough: throughList,
  type: transactionType.optional(),
  held: z.boolean().optional(),
  late: z.boolean().optional(),
  search,
  minAmount: birrAmount.optional(),
  maxAmount: birrAmount.optional(),
});

/** The orders of the list; `-` is descending. */
const SORTS = ['-createdAt', 'createdAt', '-amount', 'amount'] as const;
const sort = z.enum(SORTS).default('-createdAt').describe('Equal ones by id; - is descending');

export const TransactionFilterQuery = z.strictObject(filter).superRefine(checkAmounts);

export const TransactionExportQuery = z.strictObject({ ...filter, sort }).superRefine(checkAmounts);

export const TransactionListQuery = z
  .strictObject({ ...filter, sort, ...sortedPageQuery })
  .superRefine(checkAmounts)
  .superRefine((query, context) => {
    const order = query.sort.endsWith('amount') ? 'number' : 'time';
    if (!query.cursor || isPositionOf(order, query.cursor.after)) return;
    const message = 'must be the nextCursor of an earlier response with the same sort, got one of another';
    context.addIssue({ code: 'custom', message, path: ['cursor'] });
  });

export const TransactionParams = z.strictObject({ transactionId: z.string().max(64) });

export const PayerDecision = z.strictObject({
  decision: z.enum(PAYER_DECISIONS).describe('What the payer does with the request to pay'),
});

const PaymentFailure = z.object({
  code: z.string(),
  message: z.string(),
  providerCode: z.string(),
  retryable: z.boolean(),
});

/** The contract's fields of a transaction, then those added later. */
export const Transaction = z
  .object({
    checkoutOrderNo: z.string(),
    amount: z.number().positive().describe('Birr, at most two decimals'),
    currency: z.literal('ETB'),
    transactionThrough: transactionThrough.nullable().describe('null until a channel is chosen'),
    transactionDate: z.string().meta({ format: 'date', description: 'The day of createdAt in Addis Ababa' }),
    type: transactionType,
    status: transactionStatus,
    createdAt: instant,
    sessionId: z.string(),
    transactionId: z.string(),
    customerName: z.string().optional(),
    customerEmail: z.string().optional(),
    customerPhone: z
      .string()
      .optional()
      .meta({ description: 'Digits from the country code on', example: '251911223344' }),
    receivedAmount: z
      .number()
      .optional()
      .describe('The received amount, where an operator has accepted an unexpected amount'),
    fee: z.number().optional().describe('The fee of the payment, once it has succeeded'),
    feeTax: z.number().optional(),
    netAmount: z.number().optional().describe('The amount added to the balance: paid amount - fee - feeTax'),
    refundedAmount: z.number().optional().describe('Returned to the payer by refunds that have succeeded'),
    providerReference: z.string().optional(),
    completedAt: instant.optional(),
    failure: PaymentFailure.optional(),
    lateConfirmation: z.literal(true).optional().describe('Paid after the session had ended'),
    held: z.enum(HELD_REASONS).optional(),
    environment,
    metadata: z.record(z.string(), z.string()).optional(),
  })
  .meta({ id: 'Transaction' });

const Attempt = z.object({
  attemptId: z.string(),
  channel: z.enum(CHANNELS),
  phone: z.string().describe('The payer'),
  status: z.enum(ATTEMPT_STATUSES),
  expected: z.number(),
  currency: z.string(),
  received: z.number().nullable(),
  receivedCurrency: z.string().nullable(),
  lastOutcome: z.string().nullable().describe("The provider's latest response"),
  lastCheckedAt: instant.nullable(),
  providerReference: z.string().nullable(),
  providerCode: z.string().nullable(),
  failure: PaymentFailure.nullable(),
  decision: z.enum(['ACCEPTED', 'RETURNED']).nullable(),
  decidedAt: instant.nullable(),
  returnReference: z.string().nullable(),
  startedAt: instant,
  endedAt: instant.nullable(),
});

/** A transaction with its refunds, whose shape is given: they are payouts, which stand above payments. */
export const transactionDetail = <Refund extends z.ZodType>(Refund: Refund) =>
  Transaction.extend({
    attempts: z.array(Attempt).describe('Every attempt to pay it, oldest first'),
    movements: z
      .array(Movement.omit({ balanceAfter: true, resourceType: true, resourceId: true }))
      .describe('What it and its refunds have moved in the balance, oldest first'),
    refunds: z.array(Refund).describe('Oldest first'),
    feeReturnable: z.boolean().describe('Whether a refund may give its part of the fee back'),
    timeline: timelineSchema(TIMELINE),
    deliveries: z.array(ResourceDelivery).describe('The webhook deliveries of its events, oldest event first'),
  }).meta({ id: 'TransactionDetail' });

export const OperatorParams = z.strictObject({ transactionId: id });

export const OperatorTransactionQuery = z.strictObject({
  status: statusParam(TRANSACTION_STATUSES).optional(),
  channel: z.enum(CHANNELS).optional(),
  checkoutOrderNo: reference.optional(),
  held: filter.held,
  late: filter.late,
  ...requestListQuery,
});

export const OperatorTransaction = Transaction.extend({
  customerPhone: z.string().optional().describe('All but the last four digits masked'),
  merchantId: z.string(),
  merchantName: z.string(),
  temporalUrl: temporalUrl.describe('The workflow of its latest attempt in the Temporal UI; null where there is none'),
}).meta({ id: 'OpsTransaction' });

const attemptId = id.describe('The held payment: a transaction may have several');
export const PaymentAcceptance = z.strictObject({ attemptId, reason: reason.optional() });
export const PaymentReturn = z.strictObject({
  attemptId,
  reason,
  reference: providerReference.describe("The provider's or the bank's reference of the return"),
});

export const HeldDecision = z
  .object({
    transactionId: z.string(),
    merchantId: z.string(),
    environment,
    status: transactionStatus,
    amount: z.number().describe('The requested amount'),
    ...Attempt.pick({ attemptId: true, decision: true, received: true, receivedCurrency: true }).shape,
    fee: z.number().optional().describe('Charged by this decision'),
    feeTax: z.number().optional(),
    reference: z.string().nullable().describe('Of the return'),
  })
  .meta({ id: 'OpsHeldDecision' });

const OperatorAttempt = Attempt.extend({ links });

/** As {@link transactionDetail}. */
export const operatorTransactionDetail = <Refund extends z.ZodType>(Refund: Refund) =>
  Transaction.extend({
    merchantId: z.string(),
    merchantName: z.string(),
    uncertain: z.boolean().describe('It ended while the provider did not know whether it was paid'),
    payments: z.array(OperatorAttempt.extend({ temporalUrl })).describe('Every attempt to pay it, oldest first'),
    refunds: z.array(Refund).describe('Oldest first'),
    timeline,
    decisions: z.array(AuditEntry).describe('The decisions of operators about it, oldest first'),
  }).meta({ id: 'OpsTransactionDetail' });
