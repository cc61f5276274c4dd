import { fromPlainOrderId } from '../../src/providers/exchange.ts';
import type { Fault, SimulatedChannel } from '../../src/sandbox/simulator/faults.ts';
import type { ChannelTotals } from '../../src/sandbox/simulator/movements.ts';
import {
  type Journal,
  type JournalOrder,
  type SimulatorOptions,
  startSimulator,
} from '../../src/sandbox/simulator/server.ts';

/** An order of the simulator's journal with our id of it: at telebirr `pat_01…` is `pat01…`. */
type TestOrder = JournalOrder & { attemptId: string };

/** A payout of the journal with our id of it. */
type TestPayout = JournalOrder & { withdrawalId: string };

/** A refund of the journal with our id of it. */
type TestRefund = JournalOrder & { refundId: string };

type TestJournal = Omit<Journal, 'orders' | 'payouts' | 'refunds'> & {
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
  /** Transfers this amount ("100.50") from the provider to the operator's bank. */
  transferToBank: (channel: SimulatedChannel, amount: string) => Promise<void>;
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
    const { orders, payouts, refunds, ...rest } = (await call('GET', '/admin/journal')) as Journal;
    return {
      ...rest,
      orders: orders.map((order) => ({ ...order, attemptId: ourId(order.orderId) })),
      payouts: payouts.map((payout) => ({ ...payout, withdrawalId: ourId(payout.orderId) })),
      refunds: refunds.map((refund) => ({ ...refund, refundId: ourId(refund.orderId) })),
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
    transferToBank: async (channel, amount) => void (await call('POST', '/admin/bank-transfer', { channel, amount })),
    requests: async (what) => (await journal()).requests[what] ?? 0,
    reset: async () => void (await call('POST', '/admin/reset')),
  };
}

function ourId(orderId: string): string {
  return fromPlainOrderId(orderId) ?? orderId;
}
