import { fromPlainOrderId } from '../../src/providers/exchange.ts';
import type { SimulatedChannel } from '../../src/sandbox/simulator/channels.ts';
import type { Fault } from '../../src/sandbox/simulator/faults.ts';
import type { ChannelTotals } from '../../src/sandbox/simulator/movements.ts';
import type { Order } from '../../src/sandbox/simulator/order.ts';
import { type Journal, type SimulatorOptions, startSimulator } from '../../src/sandbox/simulator/server.ts';

/** `paid`: money has moved, whether or not it was returned (`reversed`). */
type JournalOrder = Order & { paid: boolean; reversed: boolean };

/** An order of the simulator's journal with our id of it: at telebirr `pat_01…` is `pat01…`. */
type TestOrder = JournalOrder & { attemptId: string };

/** A payout of the journal with our id of it. */
type TestPayout = JournalOrder & { withdrawalId: string };

/** A refund of the journal with our id of it. */
type TestRefund = JournalOrder & { refundId: string };

type TestJournal = Omit<Journal, 'orders'> & {
  orders: TestOrder[];
  payouts: TestPayout[];
  refunds: TestRefund[];
};

export type TestSimulator = {
  url: string;
  /** Moves the simulator's clock, and waits for the callbacks that are due by then. */
  advance: (byMs: number) => Promise<void>;
  fault: (fault: Fault) => Promise<void>;
  clearFaults: () => Promise<void>;
  journal: () => Promise<TestJournal>;
  /** The simulator's order of this attempt. */
  orderOf: (attemptId: string) => Promise<TestOrder | undefined>;
  /** The simulator's payout of this withdrawal. */
  payoutOf: (withdrawalId: string) => Promise<TestPayout | undefined>;
  /** The simulator's refund. */
  refundOf: (refundId: string) => Promise<TestRefund | undefined>;
  /** The amounts that passed through a channel, and the amount it still owes. */
  totalsOf: (channel: SimulatedChannel) => Promise<ChannelTotals>;
  /** The number of requests of a kind, e.g. "TELEBIRR query". */
  requests: (what: string) => Promise<number>;
  /** Deletes orders, faults and counts, and resets its clock. */
  reset: () => Promise<void>;
  close: () => Promise<void>;
};

/** A simulator for one test, on a free port. */
export async function startTestSimulator(options: Partial<SimulatorOptions> = {}): Promise<TestSimulator> {
  const { url, close } = await startSimulator({ port: 0, host: '127.0.0.1', ...options });
  return { ...controlSimulator(url), close };
}

/** The admin calls of a running simulator. */
export function controlSimulator(url: string): Omit<TestSimulator, 'close'> {
  async function call(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(method === 'POST' && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body ?? {}),
      }),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  }

  async function journal(): Promise<TestJournal> {
    const { orders, ...rest } = (await call('GET', '/admin/journal')) as Journal;
    const of = (wanted: Order['direction']): (JournalOrder & { id: string })[] =>
      orders
        .filter(({ direction }) => direction === wanted)
        .map((order) => ({
          ...order,
          id: ourId(order.orderId),
          paid: order.paidAmount !== null,
          reversed: order.reversedAtMs !== null,
        }));
    return {
      ...rest,
      orders: of('payment').map((order) => ({ ...order, attemptId: order.id })),
      payouts: of('payout').map((payout) => ({ ...payout, withdrawalId: payout.id })),
      refunds: of('refund').map((refund) => ({ ...refund, refundId: refund.id })),
    };
  }

  return {
    url,
    journal,
    advance: async (byMs) => void (await call('POST', '/admin/clock', { advanceMs: byMs })),
    fault: async (fault) => void (await call('POST', '/admin/faults', fault)),
    clearFaults: async () => void (await call('DELETE', '/admin/faults')),
    orderOf: async (attemptId) => (await journal()).orders.find((order) => order.attemptId === attemptId),
    payoutOf: async (withdrawalId) => (await journal()).payouts.find((payout) => payout.withdrawalId === withdrawalId),
    refundOf: async (refundId) => (await journal()).refunds.find((refund) => refund.refundId === refundId),
    totalsOf: async (channel) => (await journal()).totals[channel],
    requests: async (what) => (await journal()).requests[what] ?? 0,
    reset: async () => void (await call('POST', '/admin/reset')),
  };
}

function ourId(orderId: string): string {
  return fromPlainOrderId(orderId) ?? orderId;
}
