import Router from '@koa/router';
import { z } from 'zod';

import { DAY_MS } from '../../lib/dates.ts';
import { parseBirr } from '../../lib/money.ts';
import { SANDBOX_PAYOUTS, SANDBOX_PHONES } from '../../lib/sandbox-providers.ts';
import { fromThisMachineOnly } from './browsers.ts';
import { CHANNELS, Fault, type SimulatedChannel } from './faults.ts';
import { totalsOf, type ChannelTotals } from './movements.ts';
import type { Order } from './order.ts';
import { respond, type Fields, type ProtocolDeps } from './protocol.ts';

const ClockRequest = z.strictObject({
  advanceMs: z
    .int()
    .min(0)
    .max(365 * DAY_MS),
});

const TransferRequest = z.strictObject({
  channel: z.enum(CHANNELS),
  amount: z.string().refine((text) => (parseBirr(text) ?? 0n) > 0n, 'must be birr above 0, written "100.50"'),
});

type AdminDeps = ProtocolDeps & { counts: Map<string, number> };

/**
 * An order in the journal. Times are ISO 8601 by the simulator's clock. `paid`: money has moved, whether or not it was
 * returned (`reversed`).
 */
export type JournalOrder = {
  [Name in keyof Order as Name extends `${infer Time}AtMs` ? `${Time}At` : Name]: Name extends `${string}AtMs`
    ? string | (Order[Name] & null)
    : Order[Name];
} & { paid: boolean; reversed: boolean };

/** The simulator's state. `requests` counts calls as "TELEBIRR query", including those that met a fault. */
export type Journal = {
  now: string;
  orders: JournalOrder[];
  payouts: JournalOrder[];
  totals: Record<SimulatedChannel, ChannelTotals>;
  requests: Record<string, number>;
};

type Run<Request> = (request: Request) => Fields | Promise<Fields>;

/** The admin API of the simulator. It takes no key, so it serves this machine only. */
export function adminRoutes(deps: AdminDeps): Router {
  const { orders, counts, faults } = deps;
  const routes = new Router();
  routes.use(fromThisMachineOnly);

  routes.get('/', (ctx) =>
    respond(ctx, 200, {
      simulator: 'meskot',
      phones: SANDBOX_PHONES,
      payouts: SANDBOX_PAYOUTS,
      journal: '/admin/journal',
      faults: '/admin/faults',
      clock: '/admin/clock',
      bankTransfer: '/admin/bank-transfer',
    }),
  );
  const post = <Request>(path: string, schema: z.ZodType<Request>, run: Run<Request>): void =>
    void routes.post(path, async (ctx) => {
      const { data, error } = schema.safeParse(ctx.request.body);
      const problems = error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
      if (problems) respond(ctx, 400, { problems });
      else respond(ctx, 200, await run(data as Request));
    });
  const now = (): Fields => ({ now: iso(orders.nowMs()) });

  routes.get('/admin/journal', (ctx) => respond(ctx, 200, journalOf(deps)));
  post('/admin/bank-transfer', TransferRequest, (transfer) => {
    orders.transfer({ ...transfer, atMs: orders.nowMs() });
    return { totals: journalOf(deps).totals };
  });

  routes.get('/admin/faults', (ctx) => respond(ctx, 200, { faults: faults.list() }));
  post('/admin/faults', Fault, (fault) => {
    faults.add(fault);
    return { faults: faults.list() };
  });
  routes.delete('/admin/faults', (ctx) => {
    faults.clear();
    respond(ctx, 200, { faults: [] });
  });

  post('/admin/clock', ClockRequest, async ({ advanceMs }) => {
    await orders.advance(advanceMs);
    return now();
  });
  post('/admin/reset', z.unknown(), () => {
    for (const part of [faults, counts]) part.clear();
    orders.reset();
    return now();
  });
  return routes;
}

function journalOf({ orders, counts }: AdminDeps): Journal {
  const all = orders.all();
  const journaled = (wanted: Order['direction']): JournalOrder[] =>
    all.filter(({ direction }) => direction === wanted).map(journalOrder);
  const totals = (channel: SimulatedChannel): ChannelTotals =>
    totalsOf(channel, { orders: all, transfers: orders.transfers });
  return {
    now: iso(orders.nowMs()),
    orders: journaled('payment'),
    payouts: journaled('payout'),
    totals: { TELEBIRR: totals('TELEBIRR'), CBE_BIRR: totals('CBE_BIRR'), AWASH: totals('AWASH') },
    requests: Object.fromEntries(counts),
  };
}

/** The order with each time `…AtMs` as an ISO 8601 `…At`. */
function journalOrder(order: Order): JournalOrder {
  const fields = Object.entries(order).map(([name, value]: [string, unknown]) =>
    name.endsWith('AtMs') ? [name.slice(0, -2), typeof value === 'number' ? iso(value) : value] : [name, value],
  );
  const added = { paid: order.paidAmount !== null, reversed: order.reversedAtMs !== null };
  return { ...Object.fromEntries(fields), ...added } as JournalOrder;
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
