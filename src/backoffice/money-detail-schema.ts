import { z } from 'zod';

import { instant } from '../lib/fields.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';
import { BankAccount, Settlement, Withdrawal } from './decision-schema.ts';
import { AuditEntry, environment, MerchantKey } from './schema.ts';

const timeline = z.array(z.object({ at: instant, kind: z.string(), detail: z.record(z.string(), z.unknown()) }));
const decisions = z.array(AuditEntry).meta({ description: 'What operators have said of it, the oldest first' });
const links = z
  .record(z.string(), z.string())
  .meta({ description: 'What can be said of it now: a path of this API by its verb' });
const before = { count: z.int(), amount: z.number(), lastAt: instant.nullable() };

const requested = {
  merchantName: z.string(),
  requestedBy: z.string().meta({ description: 'key_… or opr_…: who may not approve it' }),
  requestedWith: MerchantKey.nullable().meta({ description: 'That key; who made it may not approve it either' }),
  decisions,
  links,
};
const toPayout = { ...requested, fee: z.number(), feeTax: z.number(), totalDebit: z.number(), timeline };

/** A withdrawal with all that its review needs. */
export const WithdrawalDetail = Withdrawal.extend({
  ...toPayout,
  destination: z
    .object({
      phone: z.string().optional(),
      bankCode: z.string().optional(),
      bankName: z.string().optional(),
      accountNumber: z.string().optional(),
      accountName: z.string(),
    })
    .meta({ description: 'Whole' }),
  reason: z.string().nullable().meta({ description: "The merchant's" }),
  paidAmount: z.number().nullable().meta({ description: 'What the beneficiary got, where that is not the amount' }),
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
    .object({ ...before, accountNames: z.array(z.string()) })
    .meta({ description: 'What this merchant has paid to the same phone or account before, and under which names' }),
  providerCode: z.string().nullable(),
  lastOutcome: z.string().nullable().meta({ description: "The provider's latest word" }),
  failure: z.record(z.string(), z.unknown()).nullable(),
  submittedAt: instant.nullable(),
  completedAt: instant.nullable(),
  reversedAt: instant.nullable(),
}).meta({ id: 'OpsWithdrawalDetail' });

/** A settlement with all that its approval and its transfer need. */
export const SettlementDetail = Settlement.extend({
  ...toPayout,
  bankName: z.string(),
  settledBefore: z.object(before).meta({ description: 'What was settled to the same account before' }),
  overdueAt: instant.nullable().meta({ description: 'Open past its last expected day' }),
}).meta({ id: 'OpsSettlementDetail' });

/** The bank account that counts now. */
export const BankAccountDetail = BankAccount.extend({
  ...requested,
  bankName: z.string(),
  decidedBy: z.string().nullable().meta({ description: 'opr_…, or "sandbox"' }),
}).meta({ id: 'OpsBankAccountDetail' });

const Payment = z.object({
  attemptId: z.string(),
  channel: z.enum(CHANNELS),
  phone: z.string().meta({ description: 'Who pays' }),
  status: z.string(),
  expected: z.number(),
  currency: z.string(),
  received: z.number().nullable(),
  receivedCurrency: z.string().nullable(),
  lastOutcome: z.string().nullable().meta({ description: "The provider's latest word" }),
  lastCheckedAt: instant.nullable(),
  providerReference: z.string().nullable(),
  providerCode: z.string().nullable(),
  failure: z.record(z.string(), z.unknown()).nullable(),
  decision: z.enum(['ACCEPTED', 'RETURNED']).nullable(),
  decidedAt: instant.nullable(),
  returnReference: z.string().nullable(),
  startedAt: instant,
  endedAt: instant.nullable(),
  links,
});

/** A transaction with every payment that came for it. */
export const TransactionDetail = z
  .object({
    transactionId: z.string(),
    merchantId: z.string(),
    merchantName: z.string(),
    environment,
    sessionId: z.string(),
    checkoutOrderNo: z.string(),
    amount: z.number().meta({ description: 'What was asked for' }),
    currency: z.string(),
    type: z.enum(['API', 'QRCODE']),
    status: z.enum(['PENDING', 'SUCCESS', 'FAILED', 'CANCELLED', 'EXPIRED']),
    channel: z.enum(CHANNELS).nullable(),
    held: z.enum(['WRONG_AMOUNT', 'WRONG_CURRENCY', 'REFERENCE_USED']).nullable(),
    uncertain: z.boolean().meta({ description: 'It ended while the provider did not know whether it was paid' }),
    lateConfirmation: z.boolean(),
    customer: z.object({ name: z.string().nullable(), email: z.string().nullable(), phone: z.string().nullable() }),
    providerReference: z.string().nullable(),
    failure: z.record(z.string(), z.unknown()).nullable(),
    createdAt: instant,
    completedAt: instant.nullable(),
    payments: z.array(Payment).meta({ description: 'Every try to pay it, the oldest first' }),
    timeline,
    decisions,
  })
  .meta({ id: 'OpsTransactionDetail' });
