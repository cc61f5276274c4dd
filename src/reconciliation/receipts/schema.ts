import { z } from 'zod';

import { environment, id, reason } from '../../access/operator-schema.ts';
import { birrAmount, instant, patternText, plainText } from '../../lib/fields.ts';
import { pageQuery } from '../../lib/pagination.ts';
import { CHANNELS } from '../../merchants/channels/channel.ts';

const channel = z.enum(CHANNELS);
const reference = patternText(
  64,
  /^[A-Za-z0-9][A-Za-z0-9_./-]{0,63}$/,
  'must be 1 to 64 letters, digits and any of _ . / -, beginning with a letter or digit',
);
const bankReference = reference.describe("The bank's trace id");

export const UnallocatedReceipt = z.strictObject({
  environment,
  amount: birrAmount,
  bankReference,
  reason: reason.optional(),
});
export const Remittance = UnallocatedReceipt.extend({ channel });

export const Recovery = z.strictObject({
  withdrawalId: id,
  reference: reference.describe("The provider's reference of the recovery"),
  reason,
});
export const RefundRecovery = Recovery.omit({ withdrawalId: true }).extend({ refundId: id });

export const ReceiptParams = z.strictObject({ receiptId: id });
/** The fields that belong to one decision, and to no other. */
const DECISION_FIELDS = [
  { field: 'channel', of: 'ALLOCATED', value: `one of ${CHANNELS.join(', ')}` },
  { field: 'returnReference', of: 'RETURNED', value: "the bank's trace id" },
] as const;

export const ReceiptDecision = z
  .strictObject({
    as: z.enum(['ALLOCATED', 'RETURNED', 'CORRECTED']),
    channel: channel.optional().describe('With ALLOCATED: the provider that sent it'),
    returnReference: reference.optional().describe("With RETURNED: the bank's trace id of the return"),
    reason,
  })
  .check(({ value: decision, issues }) => {
    for (const { field, of, value } of DECISION_FIELDS) {
      if ((decision[field] !== undefined) === (decision.as === of)) continue;
      const input = decision[field];
      const got = field === 'channel' ? `, got "${input}"` : '';
      const message = decision.as === of ? `is needed with ${of}: ${value}` : `belongs to ${of} only${got}`;
      issues.push({ code: 'custom', path: [field], message, input });
    }
  });

export const ReceiptQuery = z.strictObject({
  environment: environment.optional(),
  reference: plainText(64)
    .min(1)
    .optional()
    .describe("The bank's trace id, incoming or outgoing, or the provider's reference"),
  waiting: z.enum(['true', 'false']).optional().describe('Whether it is in suspense'),
  ...pageQuery,
});

export const Receipt = z
  .object({
    receiptId: z.string(),
    environment,
    kind: z.enum(['REMITTANCE', 'UNALLOCATED', 'RECOVERY']),
    amount: z.number(),
    bankReference: z.string().nullable().describe("The bank's trace id; null of RECOVERY"),
    providerReference: z.string().nullable().describe("The provider's reference, of RECOVERY"),
    channel: channel.nullable(),
    withdrawalId: z.string().nullable().describe('RECOVERY: the withdrawal that was overpaid'),
    refundId: z.string().nullable().describe('RECOVERY: the refund that was overpaid'),
    bookedAt: instant,
    outcome: z.enum(['ALLOCATED', 'RETURNED']).nullable().describe('Of UNALLOCATED; null while it is in suspense'),
    outcomeAt: instant.nullable(),
    returnReference: z.string().nullable(),
    reversedAt: instant.nullable().describe('When a wrong booking was reversed'),
  })
  .meta({ id: 'OpsReceipt' });
