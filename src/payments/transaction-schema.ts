import { z } from 'zod';

import { currencyEtb, limitedText } from '../lib/fields.ts';
import { BIRR_RULE, formatBirr, isBirr, toSantim } from '../lib/money.ts';
import { dateParam, pageQuery, statusParam } from '../lib/pagination.ts';
import { TRANSACTION_THROUGH } from '../merchants/channels/channel.ts';
import { ResourceDelivery } from '../webhooks/delivery/resource-deliveries.ts';
import { TRANSACTION_STATUSES } from './states.ts';
import { TIMELINE } from './timeline.ts';

const SEARCH_CHARACTERS_MAX = 100;
const BIRR_CHARACTERS_MAX = 30;

const instant = z.string().meta({ format: 'date-time' });
const environmentName = z.enum(['sandbox', 'live']);
const transactionType = z.enum(['API', 'QRCODE']);
const transactionStatus = z.enum(TRANSACTION_STATUSES);
const transactionThrough = z.enum(Object.values(TRANSACTION_THROUGH));

const birrText = limitedText(BIRR_CHARACTERS_MAX)
  .refine((text) => /^\d{1,14}(\.\d{1,2})?$/.test(text) && isBirr(Number(text)), {
    error: ({ input }) => `${BIRR_RULE}, got ${JSON.stringify(input)}`,
  })
  .transform((text) => toSantim(Number(text)))
  .meta({ override: { type: 'number', exclusiveMinimum: 0 } });

const listQuery = z.strictObject({
  startDate: dateParam,
  endDate: dateParam,
  status: statusParam(TRANSACTION_STATUSES),
  currency: currencyEtb,
  transactionThrough: transactionThrough.optional(),
  type: transactionType.optional(),
  search: z.string().min(1).max(SEARCH_CHARACTERS_MAX).optional().meta({
    description:
      'A part of the order number, e-mail or customer phone, a whole id, or a whole phone that was paid from; phones in any form: 09…, 2519… or +2519…',
  }),
  minAmount: birrText.optional(),
  maxAmount: birrText.optional(),
  ...pageQuery,
});

/** Query of the list: the contract's four parameters are required, the rest narrows. */
export const TransactionListQuery = listQuery.superRefine(({ minAmount, maxAmount }, context) => {
  if (minAmount === undefined || maxAmount === undefined || minAmount <= maxAmount) return;
  const message = `must not be more than maxAmount, got ${formatBirr(minAmount)} and ${formatBirr(maxAmount)}`;
  context.addIssue({ code: 'custom', message, path: ['minAmount'] });
});

export const TransactionParams = z.strictObject({ transactionId: z.string().max(64) });

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
    amount: z.number().positive().meta({ description: 'Birr, at most two decimals' }),
    currency: z.literal('ETB'),
    transactionThrough: transactionThrough.nullable().meta({ description: 'null until a channel is chosen' }),
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
      .meta({ description: 'The received amount, where an operator has accepted an unexpected amount' }),
    fee: z.number().optional().meta({ description: 'The fee of the payment, once it has succeeded' }),
    feeTax: z.number().optional(),
    netAmount: z
      .number()
      .optional()
      .meta({ description: 'The amount added to the balance: paid amount - fee - feeTax' }),
    providerReference: z.string().optional(),
    completedAt: instant.optional(),
    failure: PaymentFailure.optional(),
    lateConfirmation: z.literal(true).optional().meta({ description: 'Paid after the session had ended' }),
    held: z.enum(['WRONG_AMOUNT', 'WRONG_CURRENCY', 'REFERENCE_USED']).optional(),
    environment: environmentName,
    metadata: z.record(z.string(), z.string()).optional(),
  })
  .meta({ id: 'Transaction' });

const entries = Object.entries(TIMELINE).map(([kind, { description, detail }]) =>
  z.object({ at: instant, kind: z.literal(kind), detail }).meta({ description: description }),
);
const TimelineEntry = z.discriminatedUnion('kind', entries as [(typeof entries)[number], ...typeof entries]);

export const TransactionDetail = Transaction.extend({
  timeline: z.array(TimelineEntry),
  deliveries: z
    .array(ResourceDelivery)
    .meta({ description: 'The webhook deliveries of its events, oldest event first' }),
}).meta({ id: 'TransactionDetail' });
