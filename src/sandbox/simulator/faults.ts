export type SimulatedChannel = 'TELEBIRR' | 'CBE_BIRR' | 'AWASH';

/** What may go wrong with an order or a payout once it is made. */
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

/** What may go wrong with payouts only. Those that are unknown or silent are made, and nobody is told for `delayMs`. */
export const PAYOUT_FAULTS = ['payoutAcceptedThenFailed', 'payoutReversed', 'payoutUnknown', 'payoutSilent'] as const;

/** What may go wrong with a request; the `After` kinds do what was asked and then do not say so. */
export const REQUEST_FAULTS = ['serverError', 'serverErrorAfter', 'hang', 'hangAfter', 'tokenExpired'] as const;

export type OrderFaultKind = (typeof ORDER_FAULTS)[number] | (typeof PAYOUT_FAULTS)[number];
type RequestFaultKind = (typeof REQUEST_FAULTS)[number];
export const REQUEST_KINDS = ['initiate', 'query', 'payout', 'queryPayout', 'statement'] as const;

export type RequestKind = (typeof REQUEST_KINDS)[number];

/** Money in or out. */
export type Direction = 'payment' | 'payout';

/** A fault as an admin call asks for it. */
export type Fault = {
  kind: OrderFaultKind | RequestFaultKind;
  /** All channels unless named. */
  channel?: SimulatedChannel;
  /** For the next so many orders (or requests, for faults of requests); until cleared unless said. */
  next?: number;
  /** Of requests only: all of them unless said. */
  on?: RequestKind;
  /** Of requests only: so many are spared first. */
  after?: number;
  /** Of what is made only: payments and payouts unless said. */
  of?: Direction;
  /**
   * How late a late callback comes, how far a query lags behind, how long a payout is unknown, when it comes back after
   * it was paid; a minute unless said.
   */
  delayMs?: number;
};

export type OrderFault = { kind: OrderFaultKind; delayMs: number };

const DELAY_MS = 60_000;

export type Faults = {
  add: (fault: Fault) => void;
  clear: () => void;
  list: () => readonly Fault[];
  /** The faults a new order or payout will have. */
  takeForOrder: (channel: SimulatedChannel, of: Direction) => OrderFault[];
  /** The fault this request has, if any. */
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

function concerns(fault: Fault, channel: SimulatedChannel): boolean {
  return fault.channel === undefined || fault.channel === channel;
}

function isOneOf<Kind extends string>(kinds: readonly Kind[], kind: string): kind is Kind {
  return (kinds as readonly string[]).includes(kind);
}
