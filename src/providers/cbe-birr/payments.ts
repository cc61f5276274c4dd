import { z } from 'zod';

import { formatBirr } from '../../lib/money.ts';
import { verifyCbeBirr } from '../../lib/provider-signing.ts';
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
import { cbeBirrOrder, createCbeBirrCall, type CbeBirrConfig } from './call.ts';
import { cbeBirrPayouts } from './payouts.ts';

const Answer = z.object({
  state: z.string(),
  resultCode: z.string(),
  resultDesc: z.string().optional(),
  reference: z.string().optional(),
  amount: z.string().optional(),
  currency: z.string().optional(),
});
type Answer = z.output<typeof Answer>;

const FAILURES = new Map<string, Failure>(
  Object.entries({
    INSUFFICIENT_BALANCE: { code: 'INSUFFICIENT_FUNDS', message: 'The account has too little money.', retryable: true },
    CANCELLED: { code: 'CANCELLED_BY_CUSTOMER', message: 'The customer refused the payment.', retryable: true },
    INVALID_MSISDN: { code: 'INVALID_PAYER', message: 'CBE Birr does not know this phone number.', retryable: true },
    DECLINED: { code: 'DECLINED', message: 'CBE Birr declined the payment.', retryable: false },
  }),
);

/**
 * The channel CBE_BIRR: a USSD push to the customer's phone by signed POST. `transactionId` is our order id: the same
 * one is pushed once only.
 */
export function createCbeBirr(deps: ProviderDeps, config: CbeBirrConfig): Provider {
  const call = createCbeBirrCall(deps, config);

  return {
    channel: 'CBE_BIRR',
    ...cbeBirrPayouts(call),
    callbackResponse: { contentType: 'application/json', body: '{"resultCode":"0"}' },

    async initiate(order) {
      const reply = await call('/push', {
        transactionId: order.orderId,
        amount: formatBirr(order.amountSantim),
        currency: order.currency,
        phoneNumber: order.phone,
        callBackURL: order.notifyUrl,
        expiryTime: order.expiresAt.toISOString(),
      });
      if (reply.kind === 'unknown') return reply;
      const read = readReply(reply, Answer);
      if (read.kind === 'unknown') return read;
      const isRejection = reply.status >= 400 || read.value.state === 'REJECTED';
      return ofOrder(readMessage(read.value), cbeBirrOrder(reply, order.orderId, { isRejection }));
    },

    async query(orderId) {
      const reply = await call('/status', { transactionId: orderId });
      if (reply.kind === 'unknown') return reply;
      const read = readReply(reply, Answer);
      if (read.kind === 'unknown') return read;
      // A rejected query (a wrong signature, for example) does not describe the payment.
      if (reply.status >= 400 || read.value.state === 'REJECTED') {
        return unreadable(`status ${reply.status}, state ${read.value.state}: the query was rejected`);
      }
      return ofOrder(readMessage(read.value), cbeBirrOrder(reply, orderId, { isRejection: false }));
    },

    parseCallback({ body }): ParsedCallback {
      const message = z.record(z.string(), z.string()).safeParse(parseJson(body.toString('utf8')));
      if (!message.success) return { verified: false, problem: 'not a JSON object of texts' };
      // Public samples of this callback skip the check; anybody who knows the address could then confirm payments.
      if (!verifyCbeBirr(message.data, config.hashKey)) {
        return { verified: false, problem: 'signature is not of this message' };
      }
      const orderId = message.data['transactionId'];
      return orderId ? { verified: true, orderId } : { verified: false, problem: 'no transactionId' };
    },
  };
}

function readMessage(response: Answer): ProviderOutcome {
  const { state, resultCode } = response;
  const reference = response.reference ?? null;
  switch (state) {
    case 'PUSHED':
      return { kind: 'accepted', providerReference: reference, redirectUrl: null, providerCode: resultCode };
    case 'PENDING':
    case 'NOT_FOUND':
      return { kind: 'pending', providerReference: reference, providerCode: state };
    case 'COMPLETED':
      return moneyOutcome('succeeded', { ...response, reference, providerCode: resultCode });
    case 'EXPIRED':
      return declined({ code: 'TIMED_OUT', message: 'The push expired unanswered.', retryable: true }, resultCode);
    case 'FAILED':
    case 'REJECTED': {
      const message = response.resultDesc ?? 'CBE Birr refused the payment.';
      return declined(FAILURES.get(resultCode) ?? { code: 'REJECTED', message, retryable: false }, resultCode);
    }
    default:
      return unreadable(`state ${state} is not known`);
  }
}
