import { z } from 'zod';

import { birrAmount, instant, plainText } from '../lib/fields.ts';
import { dateParam } from '../lib/pagination.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';
import { HOLIDAY_KINDS } from '../settlements/calendar/holidays.ts';
import { calendarDate, HolidayChanges, NewHoliday } from '../settlements/calendar/operations.ts';
import { RESOLUTIONS } from '../withdrawals/resolve.ts';
import { environment, id, reason } from './schema.ts';

const REFERENCE_CHARACTERS_MAX = 100;
const BANK_REFERENCE_CHARACTERS_MAX = 64;
const channel = z.enum(CHANNELS);

export const WithdrawalParams = z.strictObject({ withdrawalId: id });
export const WithdrawalResolution = z.strictObject({
  outcome: z
    .enum(RESOLUTIONS)
    .meta({ description: 'COMPLETED: the beneficiary has the money. FAILED: it has none of it' }),
  providerReference: plainText(REFERENCE_CHARACTERS_MAX)
    .trim()
    .min(1)
    .meta({ description: "The provider's, of the payout or of its word that there is none" }),
  paidAmount: birrAmount.optional().meta({ description: 'ETB that the beneficiary got, where it is not the amount' }),
  reason,
});
/** A withdrawal as operators decide about it. */
export const Withdrawal = z
  .object({
    withdrawalId: z.string(),
    requestId: z.string().meta({ description: "The merchant's own" }),
    merchantId: z.string(),
    environment,
    amount: z.number(),
    currency: z.literal('ETB'),
    channel,
    destination: z
      .object({
        phone: z.string().optional(),
        bankCode: z.string().optional(),
        accountNumber: z.string().optional(),
        accountName: z.string(),
      })
      .meta({ description: 'Numbers show their last four digits' }),
    status: z.string(),
    stage: z.string(),
    reviewReasons: z.array(z.string()),
    approvalsNeeded: z.int(),
    providerReference: z.string().nullable(),
    requestedAt: instant,
  })
  .meta({ id: 'OpsWithdrawal' });

export const TransactionParams = z.strictObject({ transactionId: id });
const attemptId = id.meta({
  description: 'Which payment of the transaction is meant, so that no repeat decides another',
});
export const PaymentAcceptance = z.strictObject({ attemptId, reason: reason.optional() });
export const PaymentReturn = z.strictObject({
  attemptId,
  reason,
  reference: plainText(REFERENCE_CHARACTERS_MAX)
    .trim()
    .min(1)
    .meta({ description: "The provider's or the bank's reference of the money's way back" }),
});
export const HeldDecision = z
  .object({
    transactionId: z.string(),
    merchantId: z.string(),
    environment,
    status: z.enum(['PENDING', 'SUCCESS', 'FAILED', 'CANCELLED', 'EXPIRED']),
    amount: z.number().meta({ description: 'What was asked for' }),
    attemptId: z.string(),
    decision: z.enum(['ACCEPTED', 'RETURNED']).nullable(),
    received: z.number().nullable(),
    receivedCurrency: z.string().nullable(),
    fee: z.number().optional().meta({ description: 'Charged by this decision' }),
    feeTax: z.number().optional(),
    reference: z.string().nullable().meta({ description: "Of the money's way back" }),
  })
  .meta({ id: 'OpsHeldDecision' });

export const HolidayQuery = z.strictObject({ startDate: calendarDate.optional(), endDate: calendarDate.optional() });
export const HolidayParams = z.strictObject({ holidayId: id });
export const AddedHoliday = NewHoliday.extend({ reason: reason.optional() });
export const ChangedHoliday = HolidayChanges.extend({ reason: reason.optional() });
export const Holiday = z
  .object({
    holidayId: z.string(),
    date: z.string().meta({ format: 'date' }),
    name: z.string(),
    nameAm: z.string().nullable(),
    kind: z.enum(HOLIDAY_KINDS).meta({ description: 'Whether banks are closed' }),
    confirmed: z.boolean().meta({ description: 'false: provisional, it may still move by a day' }),
    active: z.boolean(),
    source: z.enum(['computed', 'operator']),
    updatedAt: instant.nullable(),
  })
  .meta({ id: 'OpsHoliday' });

export const InEnvironment = z.strictObject({ environment });
export const SettlementParams = z.strictObject({ settlementId: id });
const bankReference = plainText(BANK_REFERENCE_CHARACTERS_MAX)
  .trim()
  .min(1)
  .meta({ description: "The bank's trace id" });
export const SettlementSent = z.strictObject({ bankReference: bankReference.optional(), reason: reason.optional() });
export const SettlementCredited = z.strictObject({
  bankReference,
  creditedOn: dateParam.meta({ description: "The bank's day of the credit" }),
  amount: birrAmount
    .optional()
    .meta({ description: "What the bank has credited, ETB: any other than the settlement's is refused" }),
  reason: reason.optional(),
});
export const SettlementFailed = z.strictObject({ bankReference: bankReference.optional(), reason });
export const SettlementReturned = z.strictObject({ bankReference, reason });
export const Settlement = z
  .object({
    settlementId: z.string(),
    requestId: z.string().meta({ description: "The merchant's own" }),
    merchantId: z.string(),
    environment,
    amount: z.number(),
    currency: z.literal('ETB'),
    status: z.string(),
    bankCode: z.string(),
    accountNumber: z.string(),
    accountName: z.string(),
    effectiveDate: z.string(),
    earliestExpected: z.string(),
    expectedBy: z.string(),
    bankReference: z.string().nullable(),
    failure: z.object({ code: z.string(), message: z.string() }).nullable(),
    requestedAt: instant,
    approvedAt: instant.nullable(),
    approvedBy: z.string().nullable(),
    sentAt: instant.nullable(),
    sentBy: z.string().nullable().meta({ description: 'The operator who takes it to the bank' }),
    creditedAt: instant.nullable(),
    returnedAt: instant.nullable().meta({ description: 'The bank had credited it and has sent it back' }),
    returnReference: z.string().nullable(),
    lateCredit: z
      .object({
        bankReference: z.string(),
        creditedAt: instant,
        operatorId: z.string(),
        at: instant,
        ended: z.enum(['BOOKED', 'DISMISSED']).nullable(),
      })
      .nullable()
      .meta({ description: 'A credit the bank reported after it had failed, and what became of that' }),
  })
  .meta({ id: 'OpsSettlement' });

const bankAccountId = id.meta({ description: 'The one looked at, should another be linked meanwhile' });
export const AccountVerification = z.strictObject({ environment, bankAccountId, reason: reason.optional() });
export const AccountRejection = z.strictObject({ environment, bankAccountId, reason });
export const BankAccount = z
  .object({
    bankAccountId: z.string(),
    merchantId: z.string(),
    environment,
    bankCode: z.string(),
    accountNumber: z.string(),
    accountName: z.string(),
    status: z.enum(['PENDING', 'VERIFIED', 'REJECTED']),
    rejection: z.string().nullable(),
    linkedAt: instant,
    usableFrom: instant,
    decidedAt: instant.nullable(),
  })
  .meta({ id: 'OpsBankAccount' });

const fileLine = { line: z.int().meta({ description: '1 is the heading' }), settlementId: z.string() };
const FileLine = z.object({ ...fileLine, result: z.enum(['credited', 'failed', 'returned']) });
export const BankFileReport = z
  .object({
    applied: z.array(FileLine),
    already: z.array(FileLine).meta({ description: 'Was so before' }),
    wrong: z.array(z.object({ ...fileLine, settlementId: z.string().nullable(), issue: z.string() })),
  })
  .meta({ id: 'OpsBankFileReport' });
