import { createServer } from 'node:http';

import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import Koa from 'koa';
import { z } from 'zod';

import { type Clock, systemClock } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/dates.ts';
import { createHttpClient } from '../../lib/http-client.ts';
import type { Logger } from '../../lib/log.ts';
import { listen, stopListening } from '../../lib/ports.ts';
import { SANDBOX_PAYOUTS, SANDBOX_PHONES, SANDBOX_REFUNDS } from '../../lib/sandbox-providers.ts';
import { type Accounts, SANDBOX_ACCOUNTS } from './accounts.ts';
import { CHANNELS, SIMULATED, type Simulated, type SimulatedChannel } from './channels.ts';
import { COUNTERPARTS } from './counterparts.ts';
import { Fault, createFaults } from './faults.ts';
import { type ChannelTotals, totalsOf } from './movements.ts';
import { createOrderStore, openStateFile } from './order-store.ts';
import { type Order, reportedOrder } from './order.ts';
import {
  type Fields,
  type Protocol,
  type ProtocolDeps,
  fromThisMachineOnly,
  protocolRoutes,
  respond,
} from './protocol.ts';

const CALLBACK_TIMEOUT_MS = 10_000;

export type SimulatorOptions = {
  /** 0 for any free port. */
  port: number;
  host: string;
  /** Where orders survive a restart; in memory only unless given. */
  stateFile?: string;
  /** Where customers' browsers reach it by a public name. */
  simulatorPublicUrl?: string | null;
  log?: Pick<Logger, 'error'>;
  clock?: Clock;
  /** Accounts in place of the sandbox's: it then stands for live providers, whose payers have any phone and decide on the pay page. */
  accounts?: Accounts;
};

export type Simulator = { url: string; close: () => Promise<void> };

/**
 * The sandbox's providers: one server with the protocols and signatures of the real ones. The payer's
 * phone number (SANDBOX_PHONES; of refunds SANDBOX_REFUNDS) or the payee's phone or account (SANDBOX_PAYOUTS) decides the
 * outcome. Bind it to loopback: its admin API takes no key, it only checks for a name of this machine.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const onError = (error: unknown): void => options.log?.error({ err: error }, 'The simulator failed');
  const faults = createFaults();
  const http = createHttpClient();
  const counts = new Map<string, number>();
  const protocols = new Map<SimulatedChannel, Protocol>();
  const orders = createOrderStore({
    base: options.clock ?? systemClock,
    file: openStateFile(options.stateFile ?? null),
    faults,
    anyPayer: options.accounts !== undefined,
    onError,
    post: async (order, callback) => {
      const message = protocols.get(order.channel)?.callback(reportedOrder(order, callback), callback);
      const result = await http.send({
        method: 'POST',
        url: order.callbackUrl,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(message),
        signal: AbortSignal.timeout(CALLBACK_TIMEOUT_MS),
      });
      return result.kind === 'response' ? result.status : null;
    },
  });
  const deps: ProtocolDeps = {
    orders,
    faults,
    count: (request) => void counts.set(request, (counts.get(request) ?? 0) + 1),
    publicUrl: options.simulatorPublicUrl ?? null,
    decidesForPayers: options.accounts === undefined,
  };
  for (const provider of SIMULATED) {
    protocols.set(provider.id, createProtocol(deps, provider, options.accounts ?? SANDBOX_ACCOUNTS));
  }

  const app = new Koa();
  app.on('error', (error: Error & { expose?: boolean }) => {
    // Exposed errors are the caller's, and are in the response.
    if (!error.expose) onError(error);
  });
  app.use(bodyParser({ enableTypes: ['json', 'form'], jsonLimit: '64kb' }));
  app.use(adminRoutes({ ...deps, counts }).routes());
  for (const protocol of protocols.values()) app.use(protocolRoutes(deps, protocol).routes());

  const server = createServer(app.callback());
  const url = await listen(server, options);
  return {
    url,
    async close() {
      await stopListening(server);
      orders.close();
      await http.close();
    },
  };
}

function createProtocol(deps: ProtocolDeps, provider: Simulated, accounts: Accounts): Protocol {
  const { create } = COUNTERPARTS[provider.protocol];
  // An account of the provider's own protocol: its schema has validated it.
  return create(deps, provider, accounts[provider.id] as never);
}

const ClockRequest = z.strictObject({
  advanceMs: z
    .int()
    .min(0)
    .max(365 * DAY_MS),
});

type AdminDeps = ProtocolDeps & { counts: Map<string, number> };

/**
 * The simulator's state. Times of orders are milliseconds since 1970 by its clock. `requests` counts calls as "<channel>
 * query", including those that met a fault.
 */
export type Journal = {
  now: string;
  orders: Order[];
  totals: Record<SimulatedChannel, ChannelTotals>;
  requests: Record<string, number>;
};

type Run<Request> = (request: Request) => Fields | Promise<Fields>;

/** The admin API of the simulator. It takes no key, so it serves this machine only. */
function adminRoutes({ orders, counts, faults }: AdminDeps): Router {
  const routes = new Router();
  routes.use(fromThisMachineOnly);

  routes.get('/', (ctx) =>
    respond(ctx, 200, {
      simulator: 'meskot',
      phones: SANDBOX_PHONES,
      payouts: SANDBOX_PAYOUTS,
      refunds: SANDBOX_REFUNDS,
      journal: '/admin/journal',
      faults: '/admin/faults',
      clock: '/admin/clock',
    }),
  );
  const post = <Request>(path: string, schema: z.ZodType<Request>, run: Run<Request>): void =>
    void routes.post(path, async (ctx) => {
      const { data, error } = schema.safeParse(ctx.request.body);
      const problems = error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
      if (problems) respond(ctx, 400, { problems });
      else respond(ctx, 200, await run(data as Request));
    });
  const now = (): Fields => ({ now: new Date(orders.nowMs()).toISOString() });

  routes.get('/admin/journal', (ctx) => {
    const all = orders.all();
    const totals = Object.fromEntries(CHANNELS.map((channel) => [channel, totalsOf(channel, all)]));
    respond(ctx, 200, { ...now(), orders: all, totals, requests: Object.fromEntries(counts) });
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
  post('/admin/reset', z.unknown(), async () => {
    for (const part of [faults, counts]) part.clear();
    await orders.reset();
    return now();
  });
  return routes;
}
