import { z } from 'zod';

import { instant, limitedText, plainText } from '../../lib/fields.ts';
import { ruleOf } from '../../lib/issues.ts';
import { RESERVED_HEADER } from '../delivery/attempt.ts';
import { EVENT_TYPE_NAMES } from '../events/catalogue.ts';
import { Failure, id } from '../events/schema.ts';

const HEADERS_MAX = 20;
/** A loose bound: names and values of headers have rules of their own with clearer errors. */
const HEADER_CHARACTERS_MAX = 10_000;
const HEADER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const HEADER_VALUE = /^[\x20-\x7e]{1,1000}$/;
const OVERLAP_SECONDS_MAX = 604_800;
const OVERLAP_SECONDS_DEFAULT = 86_400;

export const SubscriptionParams = z.strictObject({ subscriptionId: id });

const customHeaders = z
  .record(limitedText(HEADER_CHARACTERS_MAX), limitedText(HEADER_CHARACTERS_MAX))
  .superRefine((headers, context) => {
    const names = Object.keys(headers);
    const reject = (message: string, params: object): void => context.addIssue({ code: 'custom', message, params });
    if (names.length > HEADERS_MAX) {
      reject(`must be at most ${HEADERS_MAX}, got ${names.length}`, ruleOf('too_many', { maximum: HEADERS_MAX }));
    }
    if (new Set(names.map((name) => name.toLowerCase())).size < names.length) {
      reject('must not name a header twice', ruleOf('given_twice'));
    }
    for (const [name, value] of Object.entries(headers)) {
      const problem = headerProblem(name, value);
      if (problem) context.addIssue({ code: 'custom', ...problem, path: [name.slice(0, 64)] });
    }
  })
  .meta({ description: 'Sent with every delivery; stored encrypted, only the names are returned later' });

function headerProblem(name: string, value: string): { message: string; params: object } | null {
  const quoted = JSON.stringify(name.slice(0, 64));
  if (!HEADER_NAME.test(name)) {
    const message = `must have a name of 1 to 64 letters, digits, - and _ that begins with a letter or digit, got ${quoted}`;
    return { message, params: ruleOf('wrong_format') };
  }
  if (RESERVED_HEADER.test(name.toLowerCase())) {
    const message = `is a header that this service sets itself: choose another name, got ${quoted}`;
    return { message, params: ruleOf('reserved_header') };
  }
  if (!HEADER_VALUE.test(value)) {
    const found = /[^\x20-\x7e]/.test(value) ? 'others' : value.length;
    const message = `must be 1 to 1,000 printable ASCII characters without line breaks, got ${found}`;
    return { message, params: ruleOf('wrong_format') };
  }
  return null;
}

const SandboxReceiver = z.enum(['ok', 'error', 'slow']);
/** What the built-in receiver answers: 200, 500, or 200 after 4 s, which is too late. */
export type SandboxReceiver = z.output<typeof SandboxReceiver>;

const subscriptionFields = {
  url: z.string().min(1).max(2_000).meta({ example: 'https://shop.example.et/webhooks' }),
  sandboxReceiver: SandboxReceiver.meta({
    description:
      'The receiver built into the sandbox in place of a URL of yours. It verifies the signature, keeps the last 50 requests for 7 days, and answers 200 (ok), 500 (error), or after 4 s, which is a timeout (slow)',
  }),
  eventTypes: z
    .array(z.enum([...EVENT_TYPE_NAMES, '*']))
    .min(1)
    .max(50)
    .transform((types) => [...new Set(types)])
    .meta({ description: '"*" = all but aliases' }),
  active: z.boolean(),
  description: plainText(500),
  signatureEncoding: z.enum(['base64', 'hex']).meta({ description: 'Of the header X-Service-Signature' }),
  headers: customHeaders,
};

export const NewSubscription = z
  .strictObject({
    ...subscriptionFields,
    url: subscriptionFields.url.optional(),
    sandboxReceiver: subscriptionFields.sandboxReceiver.optional(),
    active: subscriptionFields.active.default(true),
    description: subscriptionFields.description.default(''),
    signatureEncoding: subscriptionFields.signatureEncoding.default('base64'),
    headers: subscriptionFields.headers.default({}),
  })
  .refine(({ url, sandboxReceiver }) => (url === undefined) !== (sandboxReceiver === undefined), {
    path: ['url'],
    error: 'must be given, or sandboxReceiver in its place',
    params: ruleOf('required'),
  });
export type NewSubscription = z.output<typeof NewSubscription>;

/** `waiting` is what happens to the deliveries that wait when it is deactivated. */
export const SubscriptionChanges = z
  .strictObject({
    ...subscriptionFields,
    waiting: z.enum(['keep', 'skip']).meta({
      description:
        'With "active": false: keep, the default, sends those that fall due after the next activation, and skips those that fall due before; skip skips all now',
    }),
  })
  .partial()
  .refine(({ waiting, active }) => waiting === undefined || active === false, {
    path: ['waiting'],
    error: 'must be given with "active": false only',
    params: ruleOf('not_allowed'),
  });
export type SubscriptionChanges = z.output<typeof SubscriptionChanges>;

export const RotateBody = z.strictObject({
  overlapSeconds: z.int().min(0).max(OVERLAP_SECONDS_MAX).default(OVERLAP_SECONDS_DEFAULT),
  force: z.boolean().default(false),
});
export const SubscriptionTestBody = z.strictObject({ event: z.enum(EVENT_TYPE_NAMES).default('webhook.test') });
export const SubscriptionTestSent = z.object({ eventId: z.string() });

export const Subscription = z.object({
  subscriptionId: z.string(),
  url: z.string(),
  sandboxReceiver: SandboxReceiver.nullable().meta({
    description: 'What the built-in receiver answers; null: url is your own',
  }),
  eventTypes: z.array(z.string()),
  active: z.boolean(),
  description: z.string(),
  signatureEncoding: z.enum(['base64', 'hex']),
  headers: z.array(z.string()).meta({ description: 'The names only; values are never returned' }),
  secretHint: z.string().meta({ description: 'The last four characters of the secret' }),
  previousSecretExpiresAt: instant.nullable(),
  createdAt: instant,
  health: z.object({
    state: z
      .enum(['UNVERIFIED', 'HEALTHY', 'FAILING'])
      .meta({ description: 'UNVERIFIED until the first 2xx; FAILING after a failed attempt until the next 2xx' }),
    successRate24h: z.number().min(0).max(1).nullable().meta({
      description:
        'The share of DELIVERED among the deliveries with at least one attempt, of the newest 1,000 in the last 24 hours; null when there is none',
    }),
    waiting: z.int().meta({ description: 'Deliveries that wait for their first attempt, a retry or a resend' }),
    lastFailure: Failure.extend({ httpStatus: z.int().nullable(), at: instant }).nullable(),
  }),
});
export const SubscriptionWithSecret = Subscription.extend({
  secret: z.string().meta({ description: 'Returned only this once: store it' }),
});

/** A request that the built-in receiver of the sandbox got. */
export const ReceivedRequest = z.object({
  requestId: z.string(),
  receivedAt: instant,
  headers: z
    .record(z.string(), z.string())
    .meta({ description: 'As received; the values of your own headers are hidden' }),
  body: z.string().meta({ description: 'At most 16,384 characters' }),
  bodyBytes: z.int(),
  problem: z.string().nullable().meta({ description: 'Why the signature is not valid; null: it is' }),
  httpStatus: z.int().meta({ description: 'Of its answer' }),
});
