import Router from '@koa/router';
import { z } from 'zod';

import { DAY_MS } from '../../lib/dates.ts';
import { parseBirr } from '../../lib/money.ts';
import { SANDBOX_PAYOUTS, SANDBOX_PHONES } from '../../lib/sandbox-providers.ts';
import { fromThisMachineOnly } from './browsers.ts';
import { CHANNELS, Fault, type SimulatedChannel } from './faults.ts';
import { totalsOf, type ChannelTotals } from './movements.ts';
import type { Order } from './order.ts';
import { respond, type Context, type ProtocolDeps } from './protocol.ts';

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
  routes.get('/admin/journal', (ctx) => respond(ctx, 200, journalOf(deps)));
  routes.post('/admin/bank-transfer', (ctx) => {
    const request = readBody(ctx, TransferRequest);
    if (!request) return;
    orders.transfer({ ...request, atMs: orders.nowMs() });
    respond(ctx, 201, { totals: journalOf(deps).totals });
  });

  routes.get('/admin/faults', (ctx) => respond(ctx, 200, { faults: faults.list() }));
  routes.post('/admin/faults', (ctx) => {
    const request = readBody(ctx, Fault);
    if (!request) return;
    faults.add(request);
    respond(ctx, 201, { faults: faults.list() });
  });
  routes.delete('/admin/faults', (ctx) => {
    faults.clear();
    respond(ctx, 200, { faults: [] });
  });

  routes.post('/admin/clock', async (ctx) => {
    const request = readBody(ctx, ClockRequest);
    if (!request) return;
    await orders.advance(request.advanceMs);
    respond(ctx, 200, { now: iso(orders.nowMs()) });
  });

  routes.post('/admin/reset', (ctx) => {
    for (const part of [faults, counts]) part.clear();
    orders.reset();
    respond(ctx, 200, { now: iso(orders.nowMs()) });
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

function readBody<T>(ctx: Context, schema: z.ZodType<T>): T | null {
  const parsed = schema.safeParse(ctx.request.body);
  if (parsed.success) return parsed.data;
  respond(ctx, 400, { problems: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) });
  return null;
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
