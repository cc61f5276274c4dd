import Router from '@koa/router';
import { z } from 'zod';

import { SANDBOX_PHONES } from '../lib/sandbox-providers.ts';
import { ORDER_FAULTS, REQUEST_FAULTS } from './faults.ts';
import type { Order } from './order.ts';
import { answer, type WireContext, type WireDeps } from './wire.ts';

const AskedFault = z.strictObject({
  kind: z.enum([...ORDER_FAULTS, ...REQUEST_FAULTS]),
  channel: z.enum(['TELEBIRR', 'CBE_BIRR', 'AWASH']).exactOptional(),
  next: z.int().min(1).max(1_000_000).exactOptional(),
  on: z.enum(['initiate', 'query']).exactOptional(),
  delayMs: z.int().min(0).max(31_536_000_000).exactOptional(),
});

const AskedClock = z.strictObject({ advanceMs: z.int().min(0).max(31_536_000_000) });

type AdminDeps = WireDeps & { counts: Map<string, number>; saveOffset: (offsetMs: number) => void };

/** One order of the journal, times as ISO 8601 by the simulator's clock. */
export type JournalOrder = Omit<Order, 'createdAtMs' | 'decidedAtMs' | 'expiresAtMs'> & {
  paid: boolean;
  createdAt: string;
  decidedAt: string | null;
  expiresAt: string;
};

/** What really happened. `requests` counts calls as "TELEBIRR query", those that met a fault included. */
export type Journal = { now: string; orders: JournalOrder[]; requests: Record<string, number> };

/** What tests and the curious may ask of the simulator. Nobody is asked who they are: it listens on loopback. */
export function adminRoutes(deps: AdminDeps): Router {
  const { book, clock, counts, faults } = deps;
  const routes = new Router();

  routes.get('/', (ctx) =>
    answer(ctx, 200, {
      simulator: 'meskot',
      phones: SANDBOX_PHONES,
      journal: '/admin/journal',
      faults: '/admin/faults',
    }),
  );
  routes.get('/admin/journal', (ctx) => {
    const orders = book.all().map(journalOrder);
    answer(ctx, 200, { now: iso(clock.nowMs()), orders, requests: Object.fromEntries(counts) } satisfies Journal);
  });

  routes.get('/admin/faults', (ctx) => answer(ctx, 200, { faults: faults.list() }));
  routes.post('/admin/faults', (ctx) => {
    const asked = readBody(ctx, AskedFault);
    if (!asked) return;
    faults.add(asked);
    answer(ctx, 201, { faults: faults.list() });
  });
  routes.delete('/admin/faults', (ctx) => {
    faults.clear();
    answer(ctx, 200, { faults: [] });
  });

  routes.post('/admin/clock', async (ctx) => {
    const asked = readBody(ctx, AskedClock);
    if (!asked) return;
    deps.saveOffset(clock.offsetMs() + asked.advanceMs);
    await clock.advance(asked.advanceMs);
    answer(ctx, 200, { now: iso(clock.nowMs()) });
  });

  routes.post('/admin/reset', (ctx) => {
    faults.clear();
    counts.clear();
    book.reset();
    answer(ctx, 200, { now: iso(clock.nowMs()) });
  });
  return routes;
}

function readBody<T>(ctx: WireContext, schema: z.ZodType<T>): T | null {
  const parsed = schema.safeParse(ctx.request.body);
  if (parsed.success) return parsed.data;
  answer(ctx, 400, { problems: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) });
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

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
