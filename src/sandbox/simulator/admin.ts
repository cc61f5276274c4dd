import Router from '@koa/router';
import { z } from 'zod';

import { parseBirr } from '../../lib/money.ts';
import { SANDBOX_PAYOUTS, SANDBOX_PHONES } from '../../lib/sandbox-providers.ts';
import { fromThisMachineOnly } from './browsers.ts';
import type { CallbackSender } from './callbacks.ts';
import { ORDER_FAULTS, PAYOUT_FAULTS, REQUEST_FAULTS, REQUEST_KINDS, type SimulatedChannel } from './faults.ts';
import type { Order, Payout } from './order.ts';
import { respond, type Context, type ProtocolDeps } from './protocol.ts';
import type { StateFile } from './state-file.ts';
import { totalsOf, type BankTransfer, type ChannelTotals } from './totals.ts';

const CHANNELS = ['TELEBIRR', 'CBE_BIRR', 'AWASH'] as const satisfies SimulatedChannel[];

const FaultRequest = z.strictObject({
  kind: z.enum([...ORDER_FAULTS, ...PAYOUT_FAULTS, ...REQUEST_FAULTS]),
  channel: z.enum(CHANNELS).exactOptional(),
  next: z.int().min(1).max(1_000_000).exactOptional(),
  after: z.int().min(1).max(1_000_000).exactOptional(),
  on: z.enum(REQUEST_KINDS).exactOptional(),
  of: z.enum(['payment', 'payout']).exactOptional(),
  delayMs: z.int().min(0).max(31_536_000_000).exactOptional(),
});

const ClockRequest = z.strictObject({ advanceMs: z.int().min(0).max(31_536_000_000) });

const TransferRequest = z.strictObject({
  channel: z.enum(CHANNELS),
  amount: z.string().refine((text) => (parseBirr(text) ?? 0n) > 0n, 'must be birr above 0, written "100.50"'),
});

type AdminDeps = ProtocolDeps & {
  counts: Map<string, number>;
  file: StateFile;
  sender: CallbackSender;
  transfers: BankTransfer[];
};

/** An order in the journal. Times are ISO 8601 by the simulator's clock. */
export type JournalOrder = Omit<Order, 'createdAtMs' | 'decidedAtMs' | 'expiresAtMs'> & {
  paid: boolean;
  createdAt: string;
  decidedAt: string | null;
  expiresAt: string;
};

/** A payout in the journal. `paid`: the money left, whether or not it was returned (`reversed`). */
export type JournalPayout = Omit<Payout, 'createdAtMs' | 'decidedAtMs' | 'reversedAtMs'> & {
  paid: boolean;
  reversed: boolean;
  createdAt: string;
  decidedAt: string | null;
  reversedAt: string | null;
};

/** The simulator's state. `requests` counts calls as "TELEBIRR query", including those that met a fault. */
export type Journal = {
  now: string;
  orders: JournalOrder[];
  payouts: JournalPayout[];
  totals: Record<SimulatedChannel, ChannelTotals>;
  requests: Record<string, number>;
};

/** The admin API of the simulator. It takes no key, so it serves this machine only. */
export function adminRoutes(deps: AdminDeps): Router {
  const { payments, clock, counts, faults, file, payouts, sender, transfers } = deps;
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
  routes.get('/admin/journal', (ctx) => {
    respond(ctx, 200, {
      now: iso(clock.nowMs()),
      orders: payments.all().map(journalOrder),
      payouts: payouts.all().map(journalPayout),
      totals: totals(deps),
      requests: Object.fromEntries(counts),
    } satisfies Journal);
  });
  routes.post('/admin/bank-transfer', (ctx) => {
    const request = readBody(ctx, TransferRequest);
    if (!request) return;
    const transfer = { ...request, atMs: clock.nowMs() };
    transfers.push(transfer);
    file.append({ transfer });
    respond(ctx, 201, { totals: totals(deps) });
  });

  routes.get('/admin/faults', (ctx) => respond(ctx, 200, { faults: faults.list() }));
  routes.post('/admin/faults', (ctx) => {
    const request = readBody(ctx, FaultRequest);
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
    file.append({ offsetMs: clock.offsetMs() + request.advanceMs });
    await clock.advance(request.advanceMs);
    respond(ctx, 200, { now: iso(clock.nowMs()) });
  });

  routes.post('/admin/reset', (ctx) => {
    faults.clear();
    counts.clear();
    payments.reset();
    payouts.reset();
    sender.forget();
    transfers.length = 0;
    clock.reset();
    file.clear();
    respond(ctx, 200, { now: iso(clock.nowMs()) });
  });
  return routes;
}

function totals({ payments, payouts, transfers }: AdminDeps): Journal['totals'] {
  const movements = { orders: payments.all(), payouts: payouts.all(), transfers };
  return {
    TELEBIRR: totalsOf('TELEBIRR', movements),
    CBE_BIRR: totalsOf('CBE_BIRR', movements),
    AWASH: totalsOf('AWASH', movements),
  };
}

function readBody<T>(ctx: Context, schema: z.ZodType<T>): T | null {
  const parsed = schema.safeParse(ctx.request.body);
  if (parsed.success) return parsed.data;
  respond(ctx, 400, { problems: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) });
  return null;
}

function journalOrder({ createdAtMs, decidedAtMs, expiresAtMs, ...order }: Order): JournalOrder {
  return {
    ...order,
    paid: order.state === 'PAID',
    createdAt: iso(createdAtMs),
    decidedAt: decidedAtMs === null ? null : iso(decidedAtMs),
    expiresAt: iso(expiresAtMs),
  };
}

function journalPayout({ createdAtMs, decidedAtMs, reversedAtMs, ...payout }: Payout): JournalPayout {
  return {
    ...payout,
    paid: payout.paidAmount !== null,
    reversed: reversedAtMs !== null,
    createdAt: iso(createdAtMs),
    decidedAt: decidedAtMs === null ? null : iso(decidedAtMs),
    reversedAt: reversedAtMs === null ? null : iso(reversedAtMs),
  };
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
