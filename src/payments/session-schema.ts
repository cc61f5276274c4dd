import { z } from 'zod';

import {
  birrAmount,
  currencyEtb,
  emailText,
  instant,
  isWebAddress,
  mustBe,
  patternText,
  plainText,
  reference,
} from '../lib/fields.ts';
import { ruleOf } from '../lib/issues.ts';
import { dateParam, pageQuery, statusParam } from '../lib/pagination.ts';
import { storedPhone } from '../lib/phone.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';
import { REVIEW_REASONS, ATTEMPT_STATUSES, SESSION_STATUSES, TRANSACTION_STATUSES } from './states.ts';

const URL_CHARACTERS_MAX = 2_000;
const TEXT_CHARACTERS_MAX = 200;
const METADATA_KEYS_MAX = 20;
const METADATA_KEY_CHARACTERS_MAX = 40;
const METADATA_VALUE_CHARACTERS_MAX = 500;
const CLAIM_CHARACTERS_MAX = 500;
/** Open waits per session token, and per key or person over all sessions. */
export const WAITS_MAX = { client: 4, key: 100, user: 100 };

const channel = z.enum(CHANNELS);

/** A page of the merchant's shop. */
const returnAddress = plainText(URL_CHARACTERS_MAX)
  .refine(isWebAddress, {
    error: 'must be an http or https address (https in live) without a user name',
    params: ruleOf('not_a_web_address'),
  })
  .meta({ format: 'uri', example: 'https://shop.example.et/thanks' });

const metadata = z
  .record(plainText(METADATA_KEY_CHARACTERS_MAX).min(1), plainText(METADATA_VALUE_CHARACTERS_MAX))
  .refine((record) => Object.keys(record).length <= METADATA_KEYS_MAX, {
    error: `must have at most ${METADATA_KEYS_MAX} keys`,
    params: ruleOf('too_many', { maximum: METADATA_KEYS_MAX }),
  });

export const NewSession = z.strictObject({
  checkoutOrderNo: reference.meta({
    description: "The merchant's own reference; unique per merchant and environment",
    example: 'ORDER-1001',
  }),
  amount: birrAmount,
  currency: currencyEtb,
  type: z.enum(['API', 'QRCODE']).default('API'),
  successUrl: returnAddress.optional(),
  errorUrl: returnAddress.optional(),
  cancelUrl: returnAddress.optional(),
  expiresInMinutes: z.int().min(5).max(1_440).default(30),
  channels: z.array(channel).min(1).max(CHANNELS.length).optional(),
  customerName: plainText(TEXT_CHARACTERS_MAX).min(1).optional(),
  customerEmail: emailText(TEXT_CHARACTERS_MAX).optional(),
  customerPhone: patternText(16, /^\+?\d{9,15}$/, {
    error: 'must be 9 to 15 digits, with + in front or not',
    code: 'not_a_phone',
  })
    .transform(storedPhone)
    .optional()
    .meta({ description: 'Returned as digits from the country code on: 2519… for 09…', example: '+251911223344' }),
  metadata: metadata.optional(),
  locale: z
    .enum(['en', 'am'])
    .optional()
    .meta({ description: "The language of the checkout page; by default that of the customer's browser" }),
});

const underReview = z
  .enum(REVIEW_REASONS)
  .describe(
    'Why the payment is under review: an unexpected amount, currency or reference, a second payment, or an unknown outcome. While the status is PENDING the customer must not pay again',
  );

export const SessionParams = z.strictObject({ sessionId: z.string().max(64) });

export const Session = z
  .object({
    sessionId: z.string(),
    transactionId: z.string(),
    checkoutOrderNo: z.string(),
    amount: z.number(),
    currency: z.literal('ETB'),
    type: z.enum(['API', 'QRCODE']),
    status: z.enum(SESSION_STATUSES),
    transactionStatus: z.enum(TRANSACTION_STATUSES),
    underReview: underReview.optional(),
    checkoutUrl: z
      .string()
      .nullable()
      .describe(
        'The hosted page, with its token: the address suffices to pay or cancel. null once the session has ended (COMPLETED, FAILED, CANCELLED, EXPIRED), for keys without the scope checkout:write, and where API_KEY_PEPPER has changed since the session was created',
      ),
    expiresAt: instant,
    createdAt: instant,
  })
  .meta({ id: 'CheckoutSession' });

export const SessionListQuery = z.strictObject({
  startDate: dateParam.optional(),
  endDate: dateParam.optional(),
  status: statusParam(SESSION_STATUSES).optional(),
  ...pageQuery,
});

export const CreatedSession = Session.extend({
  checkoutUrl: z.string().describe('The hosted page, with its token: the address suffices to pay or cancel'),
  clientToken: z.string().describe("The page's token, for the header x-client-token"),
  qrPayload: z.string().optional().describe('For type QRCODE: the text of the QR code, which is checkoutUrl'),
}).meta({ id: 'CreatedCheckoutSession' });

export const NewPayment = z.strictObject({
  channel,
  phone: z.string().min(1).max(30).meta({ description: '09…, 07… or +251…', example: '0911000001' }),
});

export const Payment = z
  .object({
    attemptId: z.string(),
    status: z.enum(ATTEMPT_STATUSES),
    transactionStatus: z.enum(TRANSACTION_STATUSES),
    redirectUrl: z.string().optional().describe('The page where the customer confirms, if the channel has one'),
    nextPollAfterMs: z.number().nullable(),
  })
  .meta({ id: 'Payment' });

const claimText = plainText(CLAIM_CHARACTERS_MAX).optional();
export const ClaimBody = z.strictObject({
  claimedStatus: claimText,
  reason: claimText,
  providerReference: claimText,
});

export const StatusQuery = z.strictObject({
  wait: patternText(2, /^(\d|10)$/, mustBe('whole seconds from 0 to 10'))
    .default('0')
    .transform(Number)
    .meta({
      description: `Seconds to wait for the end of the session; at most ${WAITS_MAX.client} such requests may be open at once for one session by its token, and ${WAITS_MAX.key} with one key`,
      override: { type: 'integer', minimum: 0, maximum: 10 },
    }),
});

export const HookResponse = z
  .object({
    sessionId: z.string(),
    transactionId: z.string(),
    checkoutOrderNo: z.string(),
    claim: z.enum(['success', 'error', 'cancel', 'status']),
    status: z.enum(TRANSACTION_STATUSES),
    final: z.boolean(),
    underReview: underReview.nullable(),
    lastCheckedAt: instant.nullable(),
    nextPollAfterMs: z.number().nullable(),
    redirectUrl: z
      .string()
      .nullable()
      .describe('The next page of the customer: to confirm, or back to the shop; null if there is none'),
  })
  .meta({ id: 'HookResponse' });
