import { z } from 'zod';

import { formatBirr } from '../../lib/money.ts';
import { verifyAwash } from '../../lib/provider-signing.ts';
import {
  declined,
  moneyOutcome,
  ofOrder,
  parseJson,
  readReply,
  unreadable,
  type Failure,
  type ProviderDeps,
} from '../exchange.ts';
import type { ParsedCallback, Provider, ProviderOutcome } from '../provider.ts';
import { awashOrder, createAwashCall, type AwashConfig } from './call.ts';
import { awashPayouts } from './payouts.ts';

const Payment = z.object({
  orderId: z.string().optional(),
  reference: z.string().optional(),
  state: z.string(),
  amount: z.string().optional(),
  currency: z.string().optional(),
  reasonCode: z.string().optional(),
  reason: z.string().optional(),
});
type Payment = z.output<typeof Payment>;

const FAILURES = new Map<string, Failure>(
  Object.entries({
    INSUFFICIENT_FUNDS: { code: 'INSUFFICIENT_FUNDS', message: 'The account has too little money.', retryable: true },
    CANCELLED: { code: 'CANCELLED_BY_CUSTOMER', message: 'The customer refused the payment.', retryable: true },
    UNKNOWN_PHONE: { code: 'INVALID_PAYER', message: 'Awash does not know this phone number.', retryable: true },
    DECLINED: { code: 'DECLINED', message: 'Awash declined the payment.', retryable: false },
  }),
);

/** The channel AWASH: a push to the customer's phone, and payouts to phones and bank accounts. */
export function createAwash(deps: ProviderDeps, config: AwashConfig): Provider {
  const call = createAwashCall(deps, config);

  return {
    channel: 'AWASH',
    ...awashPayouts(call),
    callbackResponse: { contentType: 'application/json', body: '{"received":true}' },

    async initiate(order) {
      const reply = await call('POST', '/payments', {
        orderId: order.orderId,
        amount: formatBirr(order.amountSantim),
        currency: order.currency,
        phone: order.phone,
        title: order.title,
        callbackUrl: order.notifyUrl,
        expiresAt: order.expiresAt.toISOString(),
      });
      if (reply.kind === 'unknown') return reply;
      const read = readReply(reply, Payment);
      if (read.kind === 'unknown') return read;
      const isRejection = reply.status >= 400;
      return ofOrder(readPayment(read.value, true), awashOrder(reply, order.orderId, { isRejection }));
    },

    async query(orderId) {
      const reply = await call('GET', `/payments/${encodeURIComponent(orderId)}`);
      if (reply.kind === 'unknown') return reply;
      const read = readReply(reply, Payment);
      if (read.kind === 'unknown') return read;
      // A rejected query (a wrong signature, for example) does not describe the payment; 404 means that there is none yet.
      if (reply.status >= 400 && read.value.state !== 'NOT_FOUND') {
        return unreadable(`status ${reply.status}: the query was rejected`);
      }
      return ofOrder(readPayment(read.value, false), awashOrder(reply, orderId, { isRejection: false }));
    },

    parseCallback({ headers, body }): ParsedCallback {
      const text = body.toString('utf8');
      if (!verifyAwash(headers, text, config.secret)) {
        return { verified: false, problem: 'x-signature is not of this message' };
      }
      const payment = Payment.safeParse(parseJson(text));
      const orderId = payment.success ? payment.data.orderId : undefined;
      return orderId ? { verified: true, orderId } : { verified: false, problem: 'no orderId' };
    },
  };
}

function readPayment(payment: Payment, initiated: boolean): ProviderOutcome {
  const { state } = payment;
  const reference = payment.reference ?? null;
  switch (state) {
    case 'PUSHED':
      return initiated
        ? { kind: 'accepted', providerReference: reference, redirectUrl: null, providerCode: state }
        : { kind: 'pending', providerReference: reference, providerCode: state };
    case 'NOT_FOUND':
      return { kind: 'pending', providerReference: null, providerCode: state };
    case 'PAID':
      return moneyOutcome('succeeded', { ...payment, reference, providerCode: state });
    case 'EXPIRED':
      return declined({ code: 'TIMED_OUT', message: 'The push expired unanswered.', retryable: true }, state);
    case 'REFUSED': {
      const code = payment.reasonCode ?? state;
      const message = payment.reason ?? 'Awash refused the payment.';
      return declined(FAILURES.get(code) ?? { code: 'REJECTED', message, retryable: false }, code);
    }
    default:
      return unreadable(`state ${state} is not known`);
  }
}
