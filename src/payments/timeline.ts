import { z } from 'zod';

import type { TimelineKinds } from '../lib/timeline.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';

const channel = z.enum(CHANNELS);
const amounts = {
  reason: z.enum(['WRONG_AMOUNT', 'WRONG_CURRENCY', 'REFERENCE_USED']),
  expectedSantim: z.int(),
  receivedSantim: z.int(),
  currency: z.string(),
};
const over = z.object({ reconcile: z.boolean() });
const claimed = z.object({
  claimedStatus: z.string().optional(),
  reason: z.string().optional(),
  providerReference: z.string().optional(),
});

/** The entries of a transaction's timeline, and the shape of their `detail`. */
export const TIMELINE = {
  'session.created': {
    description: 'The merchant created the session',
    detail: z.object({ amountSantim: z.int(), type: z.enum(['API', 'QRCODE']) }),
  },
  'session.expired': {
    description: 'The session expired, or the merchant ended it; reconcile: the outcome at the provider was unknown',
    detail: over,
  },
  'session.cancelled': { description: 'The customer cancelled', detail: over },
  'attempt.started': {
    description: 'The customer chose a channel',
    detail: z.object({ attemptId: z.string(), channel }),
  },
  'attempt.declined': {
    description:
      'The provider declined; next: the status of the session, PROCESSING while another payment of it is held',
    detail: z.object({
      attemptId: z.string(),
      code: z.string(),
      providerCode: z.string(),
      next: z.enum(['OPEN', 'PROCESSING', 'FAILED', 'EXPIRED']),
    }),
  },
  'provider.responded': {
    description: "The provider's result changed",
    detail: z.object({
      attemptId: z.string(),
      outcome: z.enum(['accepted', 'pending', 'succeeded', 'declined', 'unknown']),
      providerCode: z.string().optional(),
    }),
  },
  'payment.succeeded': {
    description: 'Paid; late: after the session had ended',
    detail: z.object({ attemptId: z.string(), channel, providerReference: z.string(), late: z.boolean() }),
  },
  'payment.held': {
    description: 'Paid with an unexpected amount or currency, or under a reference that has paid another transaction',
    detail: z.object({ attemptId: z.string(), ...amounts }),
  },
  'payment.duplicate': {
    description: 'Paid a second time; reason and amounts if amount or currency differ',
    detail: z.object({
      attemptId: z.string(),
      channel: channel.optional(),
      providerReference: z.string().optional(),
      ...z.object(amounts).partial().shape,
    }),
  },
  'payment.accepted': {
    description: 'An operator released the money to the merchant',
    detail: z.object({
      attemptId: z.string(),
      receivedSantim: z.int(),
      feeSantim: z.int(),
      feeTaxSantim: z.int(),
    }),
  },
  'payment.returned': {
    description:
      'The money was returned to the customer under this reference; failed: whether the transaction became FAILED',
    detail: z.object({
      attemptId: z.string(),
      receivedSantim: z.int().optional(),
      currency: z.string().optional(),
      reference: z.string(),
      reason: z.string(),
      failed: z.boolean(),
    }),
  },
  'reconciliation.confirmed_unpaid': {
    description: "The provider's statements contain no payment of the transaction: it was not paid",
    detail: z.object({}),
  },
  'status_report.success': { description: 'A payment was reported; the provider was queried', detail: claimed },
  'status_report.error': { description: 'A failure was reported; the provider was queried', detail: claimed },
  'status_report.cancel': { description: 'A cancellation was requested', detail: claimed },
} as const satisfies TimelineKinds;

export type TimelineKind = keyof typeof TIMELINE;
