export type SimulatedChannel = 'TELEBIRR' | 'CBE_BIRR' | 'AWASH';

/** Faults of an order or a payout once it exists. */
export const ORDER_FAULTS = [
  'callbackLost',
  'callbackLate',
  'callbackDoubled',
  'callbackBeforeAnswer',
  'callbackOutOfOrder',
  'callbackUnsigned',
  'callbackWronglySigned',
  'callbackWrongAmount',
  'paidWrongAmount',
  'queryLag',
  'listDropped',
  'listWrongAmount',
] as const;

/** Faults of payouts only. Unknown and silent ones are made, but every call about them fails for `delayMs`. */
export const PAYOUT_FAULTS = ['payoutAcceptedThenFailed', 'payoutReversed', 'payoutUnknown', 'payoutSilent'] as const;

/** Faults of a request; the `After` kinds execute it and then withhold the response. */
export const REQUEST_FAULTS = ['serverError', 'serverErrorAfter', 'hang', 'hangAfter', 'tokenExpired'] as const;

export type OrderFaultKind = (typeof ORDER_FAULTS)[number] | (typeof PAYOUT_FAULTS)[number];
type RequestFaultKind = (typeof REQUEST_FAULTS)[number];
export const REQUEST_KINDS = ['initiate', 'query', 'payout', 'queryPayout', 'statement'] as const;

export type RequestKind = (typeof REQUEST_KINDS)[number];

/** Money in or out. */
export type Direction = 'payment' | 'payout';

/** A fault as an admin call requests it. */
export type Fault = {
  kind: OrderFaultKind | RequestFaultKind;
  /** All channels unless named. */
  channel?: SimulatedChannel;
  /** How many orders (or requests, for faults of requests) it applies to; until cleared unless given. */
  next?: number;
  /** Faults of requests only: all kinds unless given. */
  on?: RequestKind;
  /** Faults of requests only: how many requests are spared first. */
  after?: number;
  /** Faults of orders only: payments and payouts unless given. */
  of?: Direction;
  /** The delay of a late callback, a query lag, an outage of a payout, or a reversal; a minute unless given. */
  delayMs?: number;
};

export type OrderFault = { kind: OrderFaultKind; delayMs: number };

export type Faulty = { faults: readonly OrderFault[] };

const DELAY_MS = 60_000;

export type Faults = {
  add: (fault: Fault) => void;
  clear: () => void;
  list: () => readonly Fault[];
  /** The faults of a new order or payout. */
  takeForOrder: (channel: SimulatedChannel, of: Direction) => OrderFault[];
  /** The fault of this request, if any. */
  takeForRequest: (channel: SimulatedChannel, on: RequestKind) => RequestFaultKind | null;
};

export function createFaults(): Faults {
  let faults: Fault[] = [];

  function take(fault: Fault): Fault {
    if (fault.next !== undefined) fault.next -= 1;
    faults = faults.filter(({ next }) => next !== 0);
    return fault;
  }

  return {
    add: (fault) => void faults.push({ ...fault }),
    clear: () => void (faults = []),
    list: () => faults,
    takeForOrder: (channel, of) => {
      const kinds: readonly OrderFaultKind[] = of === 'payout' ? [...ORDER_FAULTS, ...PAYOUT_FAULTS] : ORDER_FAULTS;
      return faults
        .filter((fault) => isOneOf(kinds, fault.kind) && concerns(fault, channel) && (fault.of ?? of) === of)
        .flatMap((fault) => {
          const { kind, delayMs = DELAY_MS } = take(fault);
          return isOneOf(kinds, kind) ? [{ kind, delayMs }] : [];
        });
    },
    takeForRequest(channel, on) {
      const fault = faults.find(
        (item) => isOneOf(REQUEST_FAULTS, item.kind) && concerns(item, channel) && (item.on ?? on) === on,
      );
      if (fault?.after) {
        fault.after -= 1;
        return null;
      }
      const kind = fault && take(fault).kind;
      return kind && isOneOf(REQUEST_FAULTS, kind) ? kind : null;
    },
  };
}

export function hasFault(order: Faulty, fault: OrderFaultKind): boolean {
  return faultOf(order, fault) !== undefined;
}

export function faultOf(order: Faulty, fault: OrderFaultKind): OrderFault | undefined {
  return order.faults.find(({ kind }) => kind === fault);
}

function concerns(fault: Fault, channel: SimulatedChannel): boolean {
  return fault.channel === undefined || fault.channel === channel;
}

function isOneOf<Kind extends string>(kinds: readonly Kind[], kind: string): kind is Kind {
  return (kinds as readonly string[]).includes(kind);
}
