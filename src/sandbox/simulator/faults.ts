import { z } from 'zod';

import { DAY_MS } from '../../lib/dates.ts';
import { CHANNELS, type SimulatedChannel } from './channels.ts';

export type Direction = 'payment' | 'payout' | 'refund';

/** Faults of an order once it exists. */
// oxfmt-ignore
const ORDER_FAULTS = [
  'callbackLost', 'callbackLate', 'callbackDoubled', 'callbackBeforeAnswer', 'callbackOutOfOrder', 'callbackUnsigned',
  'callbackWronglySigned', 'callbackWrongAmount', 'paidWrongAmount', 'queryLag', 'listDropped', 'listWrongAmount',
] as const;

/** Faults of payouts and refunds only. Unknown and silent ones are made, but every call about them fails for `delayMs`. */
const PAYOUT_FAULTS = ['payoutAcceptedThenFailed', 'payoutReversed', 'payoutUnknown', 'payoutSilent'] as const;

/** Faults of a request; the `After` kinds execute it and then withhold the response. */
const REQUEST_FAULTS = ['serverError', 'serverErrorAfter', 'hang', 'hangAfter', 'tokenExpired'] as const;

const PaymentFaultKind = z.enum(ORDER_FAULTS);
const OrderFaultKind = z.enum([...ORDER_FAULTS, ...PAYOUT_FAULTS]);
const RequestFaultKind = z.enum(REQUEST_FAULTS);

const REQUEST_KINDS = ['initiate', 'query', 'payout', 'queryPayout', 'refund', 'queryRefund', 'statement'] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** A fault as an admin call requests it. */
export const Fault = z.strictObject({
  kind: z.enum([...OrderFaultKind.options, ...REQUEST_FAULTS]),
  /** All channels unless named. */
  channel: z.enum(CHANNELS).exactOptional(),
  /** How many orders (or requests, for faults of requests) it applies to; until cleared unless given. */
  next: z.int().min(1).max(1_000_000).exactOptional(),
  /** Faults of requests only: how many requests are spared first. */
  after: z.int().min(1).max(1_000_000).exactOptional(),
  /** Faults of requests only: all kinds unless given. */
  on: z.enum(REQUEST_KINDS).exactOptional(),
  /** Faults of orders only: payments, payouts and refunds unless given. */
  of: z.enum(['payment', 'payout', 'refund']).exactOptional(),
  /** The delay of a late callback, a query lag, an outage of a payout, or a reversal; a minute unless given. */
  delayMs: z
    .int()
    .min(0)
    .max(365 * DAY_MS)
    .exactOptional(),
});
export type Fault = z.output<typeof Fault>;

/** An order's faults, each with its delay in milliseconds. */
export type OrderFaults = Partial<Record<z.output<typeof OrderFaultKind>, number>>;

const DELAY_MS = 60_000;

export type Faults = ReturnType<typeof createFaults>;

/** The faults that admin calls have added. */
export function createFaults() {
  let faults: Fault[] = [];

  function use(fault: Fault): void {
    if (fault.next !== undefined) fault.next -= 1;
    faults = faults.filter(({ next }) => next !== 0);
  }

  return {
    add: (fault: Fault): void => void faults.push({ ...fault }),
    clear: (): void => void (faults = []),
    list: (): readonly Fault[] => faults,

    takeForOrder({ channel, direction }: { channel: SimulatedChannel; direction: Direction }): OrderFaults {
      const kinds = direction === 'payment' ? PaymentFaultKind : OrderFaultKind;
      const taken: OrderFaults = {};
      for (const fault of faults) {
        const kind = kinds.safeParse(fault.kind).data;
        if (!kind || (fault.channel ?? channel) !== channel || (fault.of ?? direction) !== direction) continue;
        use(fault);
        taken[kind] ??= fault.delayMs ?? DELAY_MS;
      }
      return taken;
    },

    takeForRequest(channel: SimulatedChannel, on: RequestKind): z.output<typeof RequestFaultKind> | null {
      for (const fault of faults) {
        const kind = RequestFaultKind.safeParse(fault.kind).data;
        if (!kind || (fault.channel ?? channel) !== channel || (fault.on ?? on) !== on) continue;
        if (fault.after) {
          fault.after -= 1;
          return null;
        }
        use(fault);
        return kind;
      }
      return null;
    },
  };
}
