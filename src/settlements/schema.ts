import { z } from 'zod';

import { nameFields } from '../access/names.ts';
import { id, links, reason, requestListQuery, temporalUrl, timeline } from '../access/operator-schema.ts';
import { Movement } from '../ledger/balance.ts';
import { JOURNAL_KINDS } from '../ledger/postings.ts';
import { Quote } from '../ledger/quote.ts';
import { BANK_CODES } from '../lib/banks.ts';
import { birrAmount, birrParam, currencyEtb, instant, plainText, reference } from '../lib/fields.ts';
import { ruleOf } from '../lib/issues.ts';
import { toSantim } from '../lib/money.ts';
import { dateParam, pageQuery, sequencePageQuery, statusParam } from '../lib/pagination.ts';
import { messageCode } from '../lib/sandbox-reasons.ts';
import { entry, timelineSchema, type TimelineKinds } from '../lib/timeline.ts';
import { requestedByFields } from '../merchants/operations.ts';
import { SETTLEMENT_STATUSES } from './states.ts';

const SEARCH_CHARACTERS_MAX = 100;

export const NewSettlement = z
  .strictObject({
    requestId: reference.meta({
      description:
        "The merchant's own id of the request, unique without a time limit: the same id returns the same settlement",
      example: 'SETTLE-2026-11-21',
    }),
    amount: birrAmount.optional().meta({ description: 'ETB; this, or all', example: 2500.5 }),
    all: z.literal(true).optional().describe('The available balance, less fee and tax; this, or amount'),
    currency: currencyEtb.default('ETB'),
  })
  .check(({ value: { amount, all }, issues }) => {
    if ((amount === undefined) === (all === true)) return;
    const message = amount === undefined ? 'must be given, or "all": true' : 'must not be given together with all';
    const params = ruleOf(amount === undefined ? 'required' : 'not_allowed');
    issues.push({ code: 'custom', path: ['amount'], message, input: amount, params });
  })
  .transform(({ requestId, amount }) => ({
    requestId,
    amount: amount === undefined ? ('all' as const) : toSantim(amount),
  }));

export const SettlementLimits = z
  .object({ currency: z.literal('ETB'), min: z.number(), max: z.number() })
  .meta({ id: 'SettlementLimits' });

export const SettlementParams = z.strictObject({ settlementId: z.string().max(64) });

export const SettlementListQuery = z.strictObject({
  startDate: dateParam.optional(),
  endDate: dateParam.optional(),
  status: statusParam(SETTLEMENT_STATUSES).optional(),
  search: z
    .string()
    .min(1)
    .max(SEARCH_CHARACTERS_MAX)
    .optional()
    .describe("A settlementId, requestId or bank's reference, whole"),
  ...pageQuery,
});

export const StatementQuery = z.strictObject({ ...sequencePageQuery });

const day = (description: string) => z.string().meta({ format: 'date', description });

export const Settlement = z
  .object({
    settlementId: z.string(),
    requestId: z.string(),
    amount: z.number().describe('Credited to the bank account'),
    fee: z.number(),
    feeTax: z.number(),
    totalDebit: z.number().describe('Debited from the balance: amount + fee + feeTax'),
    currency: z.literal('ETB'),
    bankAccount: z
      .object({ bankCode: z.enum(BANK_CODES), accountNumber: z.string(), accountName: z.string() })
      .describe('As linked at the time of the request; the number has its last four digits only'),
    status: z.enum(SETTLEMENT_STATUSES),
    effectiveDate: day(
      'The business day the request counts for; requests from 15:00 in Addis Ababa count for the next one',
    ),
    earliestExpected: day('One business day after effectiveDate'),
    expectedBy: day('Two business days after effectiveDate'),
    dateReasons: z
      .array(z.object({ date: z.string(), reason: z.string(), provisional: z.boolean() }))
      .describe('The days skipped on the way, and why'),
    bankReference: z.string().optional().describe("The bank's trace id"),
    failure: z.object({ code: z.string(), message: z.string(), messageCode }).optional(),
    environment: z.enum(['sandbox', 'live']),
    requestedAt: instant,
    sentAt: instant.optional().describe('When it was given to the bank'),
    creditedAt: instant
      .optional()
      .describe('When the bank credited it; banks often report the day only: see creditedOn'),
    creditedOn: day('The day of creditedAt').optional(),
    returnedAt: instant.optional().describe('When the bank reported that it had sent it back after crediting it'),
    completedAt: instant.optional().describe('When it ended, with any status'),
  })
  .meta({ id: 'Settlement' });

const dates = { effectiveDate: z.string(), earliestExpected: z.string(), expectedBy: z.string() };

/** The kinds of timeline entries of a settlement, with the shape of their `detail`. */
export const TIMELINE = {
  'settlement.requested': entry('Requested: its amount, fee and tax are reserved'),
  'review.approved': entry('Approved by an operator'),
  'review.rejected': entry('Rejected by an operator; the money is released', { reason: z.string() }),
  'settlement.cancelled': entry('Cancelled by the merchant; the money is released'),
  'bank.sent': entry('Sent to the bank', { bankReference: z.string().optional() }),
  'bank.credited': entry("Credited to the merchant's account", { bankReference: z.string(), creditedAt: z.string() }),
  'bank.failed': entry('Not credited by the bank; the money is released', {
    reason: z.string(),
    bankReference: z.string().optional(),
  }),
  'bank.returned': entry('Sent back by the bank after its credit; the money is back in the balance', {
    reason: z.string(),
    bankReference: z.string(),
  }),
  'bank.credited_late': entry('The bank reports a credit after the failure; an operator decides about it', {
    bankReference: z.string(),
    creditedAt: z.string(),
  }),
  'bank.credit_dismissed': entry('An operator dismissed the late credit', {
    bankReference: z.string(),
    reason: z.string(),
  }),
  'expected_dates.changed': entry('The calendar has changed, and with it the expected days', {
    ...dates,
    before: z.object(dates),
  }),
  'settlement.overdue': entry('Still open after its last expected day', { expectedBy: z.string() }),
} as const satisfies TimelineKinds;

export type TimelineKind = keyof typeof TIMELINE;

export const SettlementQuoteQuery = z.strictObject({
  amount: birrParam.optional().describe('ETB; without it, the available balance, less fee and tax'),
});

export const SettlementQuote = Quote.extend({
  ...Settlement.pick({ effectiveDate: true, earliestExpected: true, expectedBy: true, dateReasons: true }).shape,
  limits: SettlementLimits,
}).meta({ id: 'SettlementQuote' });

export const SettlementDetail = Settlement.extend({ timeline: timelineSchema(TIMELINE) }).meta({
  id: 'SettlementDetail',
});

/** One page of a statement; `totals` are of all its pages. */
export const SettlementStatement = Settlement.pick({
  settlementId: true,
  requestId: true,
  status: true,
  currency: true,
})
  .extend(Settlement.pick({ amount: true, bankReference: true, creditedAt: true }).shape)
  .extend({
    previousSettlementId: z.string().nullable().describe('Its statement ends where this one begins'),
    periodFrom: instant.nullable().describe('null: from the beginning'),
    periodUntil: instant,
    openingBalance: z.number().describe('Available before the first movement'),
    closingBalance: z.number().describe('openingBalance and every movement'),
    totals: z
      .array(z.object({ type: z.enum(JOURNAL_KINDS), count: z.int(), amount: z.number() }))
      .describe('openingBalance + these = closingBalance'),
    movements: z.array(Movement.omit({ account: true })).describe('The oldest first'),
  })
  .meta({ id: 'SettlementStatement' });

export const OperatorListQuery = SettlementListQuery.extend({
  ...requestListQuery,
  search: plainText(SEARCH_CHARACTERS_MAX)
    .min(1)
    .optional()
    .describe("An id, the merchant's requestId or the bank's reference, whole"),
});
export const OperatorParams = z.strictObject({ settlementId: id });

const BANK_REFERENCE_CHARACTERS_MAX = 64;
const bankReference = plainText(BANK_REFERENCE_CHARACTERS_MAX).trim().min(1).describe("The bank's trace id");

export const SettlementSent = z.strictObject({ bankReference: bankReference.optional(), reason: reason.optional() });
export const SettlementCredited = z.strictObject({
  bankReference,
  creditedOn: dateParam.describe('The day of the credit, as the bank reports it'),
  amount: birrAmount
    .optional()
    .describe("What the bank has credited, ETB; rejected if it is not the settlement's amount"),
  reason: reason.optional(),
});
export const SettlementFailed = z.strictObject({ bankReference: bankReference.optional(), reason });
export const SettlementReturned = z.strictObject({ bankReference, reason });

export const OperatorSettlement = Settlement.extend({
  merchantId: z.string(),
  bankAccount: Settlement.shape.bankAccount.describe('Unmasked, but in lists'),
  approvedAt: instant.nullable(),
  approvedBy: z.string().nullable(),
  sentBy: z.string().nullable().describe('The operator who orders the transfer'),
  returnReference: z.string().nullable().describe("The bank's trace id of the return"),
  lateCredit: z
    .object({
      bankReference: z.string(),
      creditedAt: instant,
      operatorId: z.string(),
      at: instant,
      ended: z.enum(['BOOKED', 'DISMISSED']).nullable(),
    })
    .nullable()
    .describe('A credit that the bank reported after it had failed, and its resolution'),
  temporalUrl: temporalUrl.optional(),
}).meta({ id: 'OpsSettlement' });

export const ListedSettlement = OperatorSettlement.extend(nameFields('merchantId')).meta({ id: 'OpsListedSettlement' });

export const OperatorSettlementDetail = OperatorSettlement.extend({
  ...requestedByFields,
  ...nameFields('approvedBy', 'sentBy'),
  bankName: z.string(),
  settledBefore: z
    .object({ count: z.int(), amount: z.number(), lastAt: instant.nullable() })
    .describe('Earlier settlements to the same account'),
  overdueAt: instant.nullable().describe('Since when it is open past its last expected day'),
  timeline,
  links,
}).meta({ id: 'OpsSettlementDetail' });

const fileLine = { line: z.int().describe('1 is the heading'), settlementId: z.string() };
const FileLine = z.object({ ...fileLine, result: z.enum(['credited', 'failed', 'returned']) });
export const BankFileReport = z
  .object({
    applied: z.array(FileLine),
    already: z.array(FileLine).describe('Applied before'),
    wrong: z.array(z.object({ ...fileLine, settlementId: z.string().nullable(), issue: z.string() })),
  })
  .meta({ id: 'OpsBankFileReport' });
export type BankFileReport = z.output<typeof BankFileReport>;

export const SettlementLimitChange = z.strictObject({ min: birrAmount, max: birrAmount, reason });
export const OperatorSettlementLimit = SettlementLimits.extend({
  own: z.boolean().describe('false: the default of the platform'),
}).meta({ id: 'OpsSettlementLimit' });
