import { z } from 'zod';

import { nameFields } from '../../access/names.ts';
import { id, links, reason, temporalUrl, timeline, providerReference } from '../../access/operator-schema.ts';
import { retained } from '../../ledger/postings.ts';
import { birrAmount, instant, plainText, reference, withoutNulls } from '../../lib/fields.ts';
import { toBirr } from '../../lib/money.ts';
import { timelineSchema } from '../../lib/timeline.ts';
import { CHANNELS } from '../../merchants/channels/channel.ts';
import { requestedByFields } from '../../merchants/operations.ts';
import { REFUND_TIMELINE } from '../../payments/timeline.ts';
import { RESOLUTIONS } from '../../providers/states.ts';
import { outgoingQueries, presentStage } from '../schema.ts';
import { toPayout, type RefundRow } from './queries.ts';
import { REFUND_STAGES, REFUND_STATUSES } from './states.ts';

const REASON_CHARACTERS_MAX = 200;

export const NewRefund = z.strictObject({
  reference: reference.meta({
    description: "The merchant's own id of the refund, never reused: a repeat returns the same refund",
    example: 'RETURN-2026-11-7',
  }),
  amount: birrAmount
    .optional()
    .describe('ETB; what is left of the payment unless given. Several refunds may share a payment'),
  reason: plainText(REASON_CHARACTERS_MAX).min(1).optional(),
  returnFee: z
    .boolean()
    .default(false)
    .describe("Whether the same part of the payment's fee and its tax is given back to the merchant"),
});

export const RefundedParams = z.strictObject({ transactionId: z.string().max(64) });
export const RefundParams = z.strictObject({
  refundId: z.string().max(64).describe("Our refundId, or the merchant's reference"),
});

export const { merchants: RefundListQuery, operators: OperatorListQuery } = outgoingQueries({
  statuses: REFUND_STATUSES,
  stages: REFUND_STAGES,
  search: {
    merchants: 'A refundId, reference, transactionId or provider reference, whole',
    operators: "An id, the merchant's reference or the provider's, whole",
  },
});

const text = z.string().optional();

export const Refund = z
  .object({
    refundId: z.string(),
    reference: z.string(),
    transactionId: z.string(),
    amount: z.number().describe('What the payer gets back'),
    paidAmount: z
      .number()
      .optional()
      .describe('What the payer got, if not the amount: a difference that was not paid was returned to the balance'),
    returnFee: z.boolean(),
    feeReturned: z.number().describe("Of the payment's fee, given back to the merchant when the refund succeeds"),
    feeTaxReturned: z.number().describe('The same of the tax on the fee'),
    totalDebit: z
      .number()
      .describe('What the balance is charged: the amount, or paidAmount if it is less, - feeReturned - feeTaxReturned'),
    currency: z.literal('ETB'),
    channel: z.enum(CHANNELS).describe('The one that was paid'),
    reason: text,
    status: z.enum(REFUND_STATUSES),
    stage: z.enum(REFUND_STAGES).optional().describe('The stage while PENDING'),
    pendingReason: text,
    providerReference: text,
    failure: z
      .object({ code: z.string(), message: z.string(), providerCode: z.string(), retryable: z.boolean() })
      .optional(),
    environment: z.enum(['sandbox', 'live']),
    requestedAt: instant,
    completedAt: instant.optional(),
  })
  .meta({ id: 'Refund' });

export const RefundDetail = Refund.extend({ timeline: timelineSchema(REFUND_TIMELINE) }).meta({ id: 'RefundDetail' });

/** The public refund, without the fields that have no value. Columns that the schema does not name are dropped. */
export function presentRefund(row: RefundRow) {
  const { feeSantim, feeTaxSantim, amountSantim, paidSantim } = row;
  return Refund.parse(
    withoutNulls({
      ...row,
      refundId: row.id,
      amount: toBirr(amountSantim),
      feeReturned: toBirr(-feeSantim),
      feeTaxReturned: toBirr(-feeTaxSantim),
      totalDebit: toBirr(retained(toPayout(row))),
      paidAmount: paidSantim && toBirr(paidSantim),
      ...presentStage(row.stage),
    }),
  );
}

export const OperatorParams = z.strictObject({ refundId: id });

export const RefundResolution = z.strictObject({
  outcome: z.enum(RESOLUTIONS).describe('COMPLETED: the payer has the money. FAILED: the payer has none of it'),
  providerReference: providerReference.describe(
    "The provider's reference of the refund, or of its statement that there was none; of one not sent, that of the case",
  ),
  paidAmount: birrAmount.optional().describe('With COMPLETED: what the payer got, if that is not the amount'),
  reason,
});

export const OperatorRefund = Refund.extend({
  merchantId: z.string(),
  stage: z.enum(REFUND_STAGES),
  temporalUrl: temporalUrl.optional(),
}).meta({ id: 'OpsRefund' });

export const ListedRefund = OperatorRefund.extend(nameFields('merchantId')).meta({ id: 'OpsListedRefund' });

export function presentForOperators(row: RefundRow) {
  return { ...presentRefund(row), merchantId: row.merchantId, stage: row.stage };
}

export const OperatorRefundDetail = OperatorRefund.extend({
  ...requestedByFields,
  confirmedBy: z.string().nullable().describe('usr_…: the second person of the merchant; null: none'),
  ...nameFields('confirmedBy'),
  confirmedAt: instant.nullable(),
  providerCode: z.string().nullable(),
  lastOutcome: z.string().nullable().describe("The provider's latest response"),
  submittedAt: instant.nullable(),
  timeline,
  links,
}).meta({ id: 'OpsRefundDetail' });
