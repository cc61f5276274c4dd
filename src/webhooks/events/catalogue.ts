import { z } from 'zod';

import { withoutSafeIntegerBounds } from '../../lib/json-schema.ts';
import { scope } from './event-scope.ts';
import { REPORT_EVENTS } from './report-data.ts';
import { SETTLEMENT_EVENTS } from './settlement-data.ts';
import { WITHDRAWAL_EVENTS } from './withdrawal-data.ts';

const TRANSACTION_STATUSES = ['PENDING', 'SUCCESS', 'FAILED', 'CANCELLED', 'EXPIRED'] as const;

/** A transaction as its events show it: a full snapshot, so that the order of events does not matter. */
export const TransactionData = z.strictObject({
  object: z.literal('transaction'),
  ...scope,
  checkoutOrderNo: z.string(),
  amount: z.number().positive().meta({ description: 'Birr, at most two decimals' }),
  currency: z.literal('ETB'),
  transactionThrough: z.enum(['telebirr', 'cbebirr', 'awashbirr']).nullable(),
  transactionDate: z.iso.date().meta({ description: 'The day of createdAt in Addis Ababa' }),
  type: z.enum(['API', 'QRCODE']),
  status: z.enum(TRANSACTION_STATUSES),
  createdAt: z.iso.datetime(),
  sessionId: z.string(),
  transactionId: z.string(),
  customerName: z.string().optional(),
  customerEmail: z.string().optional(),
  customerPhone: z.string().optional(),
  receivedAmount: z.number().optional(),
  fee: z.number().optional(),
  feeTax: z.number().optional(),
  netAmount: z.number().optional(),
  providerReference: z.string().optional(),
  completedAt: z.iso.datetime().optional(),
  failure: z
    .strictObject({
      code: z.string(),
      message: z.string(),
      providerCode: z.string().nullable(),
      retryable: z.boolean(),
    })
    .optional(),
  lateConfirmation: z.boolean().optional().meta({ description: 'Paid after the session had ended' }),
  held: z.enum(['WRONG_AMOUNT', 'WRONG_CURRENCY', 'REFERENCE_USED']).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
});
export type TransactionData = z.output<typeof TransactionData>;

const SubscriptionTestData = z.strictObject({
  object: z.literal('subscription'),
  ...scope,
  subscriptionId: z.string(),
  message: z.string(),
});

type EventType = { description: string; data: z.ZodObject; example: Record<string, unknown>; alias?: true };

const paid: TransactionData = {
  object: 'transaction',
  environment: 'sandbox',
  merchantId: 'mrc_01JD8Q4T5V6W7X8Y9Z0A1B2C3D',
  version: 3,
  checkoutOrderNo: 'ORDER-1042',
  amount: 1250.5,
  currency: 'ETB',
  transactionThrough: 'telebirr',
  transactionDate: '2025-01-15',
  type: 'API',
  status: 'SUCCESS',
  createdAt: '2025-01-15T09:30:00.000Z',
  sessionId: 'cs_01JHMW8T5V6W7X8Y9Z0A1B2C3D',
  transactionId: 'txn_01JHMW8T5V6W7X8Y9Z0A1B2C3E',
  customerName: 'Abebe Bikila',
  customerPhone: '251911000000',
  fee: 31.26,
  feeTax: 4.69,
  netAmount: 1214.55,
  providerReference: 'CAF5P1QZ8L',
  completedAt: '2025-01-15T09:31:12.000Z',
};

const { fee: _fee, feeTax: _tax, netAmount: _net, providerReference: _reference, completedAt: _at, ...unpaid } = paid;
const failure = {
  code: 'DECLINED',
  message: 'The customer declined the payment.',
  retryable: false,
  providerCode: 'PAY_FAILED',
};

/** Every event type there is: what it tells, the shape of its `data` and an example of it. Docs and API are made from it. */
export const EVENT_TYPES = {
  'checkout.completed': {
    description: 'A checkout was paid: its transaction became SUCCESS.',
    data: TransactionData,
    example: paid,
  },
  'checkout.failed': {
    description: 'A checkout ended without payment: its transaction became FAILED.',
    data: TransactionData,
    example: { ...unpaid, status: 'FAILED', failure },
  },
  'checkout.canceled': {
    description: 'The customer cancelled: the transaction became CANCELLED.',
    data: TransactionData,
    example: { ...unpaid, status: 'CANCELLED' },
  },
  'checkout.expired': {
    description: 'The session ended before it was paid: the transaction became EXPIRED.',
    data: TransactionData,
    example: { ...unpaid, version: 2, status: 'EXPIRED', transactionThrough: null },
  },
  'payment.created': {
    description: 'The customer chose a channel: the first payment attempt of a session was made.',
    data: TransactionData,
    example: { ...unpaid, version: 2, status: 'PENDING' },
  },
  'payment.succeeded': {
    description: 'A payment was confirmed by its provider: the transaction became SUCCESS.',
    data: TransactionData,
    example: paid,
  },
  'payment.completed': {
    description: 'Another name of payment.succeeded, sent only to subscriptions that name it; "*" leaves it out.',
    data: TransactionData,
    example: paid,
    alias: true,
  },
  ...WITHDRAWAL_EVENTS,
  ...SETTLEMENT_EVENTS,
  ...REPORT_EVENTS,
  'webhook.test': {
    description: 'Sent when a test event is asked for, to that subscription only.',
    data: SubscriptionTestData,
    example: {
      object: 'subscription',
      environment: 'sandbox',
      merchantId: paid.merchantId,
      version: 1,
      subscriptionId: 'whs_01JHMW8T5V6W7X8Y9Z0A1B2C3F',
      message: 'This is a test event.',
    },
  },
} as const satisfies Record<string, EventType>;

export type EventTypeName = keyof typeof EVENT_TYPES;

/** The names alone, in the catalogue's order. */
export const EVENT_TYPE_NAMES = Object.keys(EVENT_TYPES) as [EventTypeName, ...EventTypeName[]];

/** One entry of `GET /api/checkout/webhooks/event-types`; `schema` is JSON Schema of the event's `data`. */
export type CatalogueEntry = {
  event: EventTypeName;
  description: string;
  alias: boolean;
  schema: Record<string, unknown>;
  example: Record<string, unknown>;
};

/** The catalogue as the API, the docs and the portal show it. */
export function listEventTypes(): CatalogueEntry[] {
  return EVENT_TYPE_NAMES.map((event) => {
    const type: EventType = EVENT_TYPES[event];
    const { $schema: _dialect, ...schema } = z.toJSONSchema(type.data, { override: withoutSafeIntegerBounds });
    return { event, description: type.description, alias: type.alias ?? false, schema, example: { ...type.example } };
  });
}
