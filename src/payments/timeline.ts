import { z } from 'zod';

import type { Queryable } from '../lib/db.ts';
import { entry, recordTimeline, type TimelineKinds } from '../lib/timeline.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';
import { RESOLUTIONS } from '../providers/states.ts';
import { HELD_REASONS } from './states.ts';

const [text, flag, santim] = [z.string(), z.boolean(), z.int()];
const channel = z.enum(CHANNELS);
const attemptId = text;
const providerReference = text;
const currency = text;
const amounts = { reason: z.enum(HELD_REASONS), expectedSantim: santim, receivedSantim: santim, currency };
const over = { reconcile: flag };
const claimed = { claimedStatus: text.optional(), reason: text.optional(), providerReference: text.optional() };

const refund = { refundId: text };
const refunded = { ...refund, amountSantim: santim };

export const REFUND_TIMELINE = {
  'refund.created': entry('A refund was requested: its money is reserved', { ...refunded, awaitsConfirmation: flag }),
  'refund.confirmed': entry('A second person of the merchant confirmed a refund', refund),
  'refund.submitted': entry('A refund was sent to the provider', refund),
  'refund.responded': entry("The provider's report of a refund changed; reportedSantim: of one that is not booked", {
    ...refund,
    outcome: text,
    providerCode: text.optional(),
    reportedSantim: santim.optional(),
    currency: text.optional(),
  }),
  'refund.succeeded': entry('A refund was paid back', { ...refunded, providerReference: text }),
  'refund.failed': entry('A refund was not paid back; its money is released', {
    ...refunded,
    code: text,
    providerCode: text,
  }),
  'refund.resolved': entry('Operators have resolved the outcome of a refund; paidSantim: what the payer received', {
    ...refunded,
    outcome: z.enum(RESOLUTIONS),
    providerReference: text,
    reason: text,
    paidSantim: santim.optional(),
  }),
} as const satisfies TimelineKinds;

type RefundEntry = { kind: keyof typeof REFUND_TIMELINE; at: Date; detail?: Record<string, unknown> };

/** Appends an entry about a refund to the timeline of its transaction, in the transaction of its change. */
export async function recordRefundTimeline(
  trx: Queryable,
  { id: refundId, transactionId }: { id: string; transactionId: string },
  { detail, ...entry }: RefundEntry,
): Promise<void> {
  await recordTimeline(trx, transactionId, { ...entry, detail: { refundId, ...detail } });
}

/** The entries of a transaction's timeline, and the shape of their `detail`. */
export const TIMELINE = {
  'session.created': entry('The merchant created the session', {
    amountSantim: santim,
    type: z.enum(['API', 'QRCODE']),
  }),
  'session.expired': entry(
    'The session expired, or the merchant ended it; reconcile: the outcome at the provider was unknown',
    over,
  ),
  'session.cancelled': entry('The customer cancelled', over),
  'attempt.started': entry('The customer chose a channel', { attemptId, channel }),
  'attempt.declined': entry(
    'The provider declined; next: the status of the session, PROCESSING while another payment of it is held',
    { attemptId, code: text, providerCode: text, next: z.enum(['OPEN', 'PROCESSING', 'FAILED', 'EXPIRED']) },
  ),
  'attempt.withdrawn': entry('The customer took the attempt back to choose another number or channel', { attemptId }),
  'provider.responded': entry("The provider's result changed", {
    attemptId,
    outcome: z.enum(['accepted', 'pending', 'succeeded', 'declined', 'unknown']),
    providerCode: text.optional(),
  }),
  'payment.succeeded': entry('Paid; late: after the session had ended', {
    attemptId,
    channel,
    providerReference,
    late: flag,
  }),
  'payment.held': entry(
    'Paid with an unexpected amount or currency, or under a reference that has paid another transaction',
    { attemptId, ...amounts },
  ),
  'payment.duplicate': entry('Paid a second time; reason and amounts if amount or currency differ', {
    attemptId,
    ...z.object({ channel, providerReference, ...amounts }).partial().shape,
  }),
  'payment.accepted': entry('An operator released the money to the merchant', {
    attemptId,
    receivedSantim: santim,
    feeSantim: santim,
    feeTaxSantim: santim,
  }),
  'payment.returned': entry(
    'The money was returned to the customer under this reference; failed: whether the transaction became FAILED',
    {
      attemptId,
      ...z.object({ receivedSantim: santim, currency }).partial().shape,
      reference: text,
      reason: text,
      failed: flag,
    },
  ),
  'reconciliation.confirmed_unpaid': entry(
    "The provider's statements contain no payment of the transaction: it was not paid",
  ),
  'status_report.success': entry('A payment was reported; the provider was queried', claimed),
  'status_report.error': entry('A failure was reported; the provider was queried', claimed),
  'status_report.cancel': entry('A cancellation was requested', claimed),
  ...REFUND_TIMELINE,
} as const satisfies TimelineKinds;

export type TimelineKind = keyof typeof TIMELINE;
