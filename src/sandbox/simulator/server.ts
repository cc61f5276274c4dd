import { createServer } from 'node:http';

import { bodyParser } from '@koa/bodyparser';
import Koa from 'koa';

import { systemClock, type Clock } from '../../lib/clock.ts';
import { createHttpClient, type HttpClient } from '../../lib/http-client.ts';
import { listen, stopListening } from '../../lib/listen.ts';
import type { Logger } from '../../lib/log.ts';
import { adminRoutes } from './admin.ts';
import { createAwashWire } from './awash.ts';
import { createCallbackSender } from './callback-sender.ts';
import { createCbeBirrWire } from './cbe-birr.ts';
import { createMovableClock } from './clock.ts';
import { createFaults, type SimulatedChannel } from './faults.ts';
import { createOrderBook } from './order-store.ts';
import type { Order, OrderState } from './order.ts';
import { createPayoutBook } from './payout-store.ts';
import type { Payout, PayoutState } from './payout.ts';
import type { Rendered, Wire, WireDeps } from './protocol.ts';
import { openStateFile } from './state-file.ts';
import { createTelebirrWire } from './telebirr.ts';

const CALLBACK_TIMEOUT_MS = 10_000;

export type SimulatorOptions = {
  /** 0 for any free one. */
  port: number;
  host: string;
  /** Where orders are kept over restarts; in memory only unless given. */
  stateFile?: string;
  /** Where customers' browsers reach it by a name of the public's, if they do. */
  simulatorPublicUrl?: string | null;
  log?: Pick<Logger, 'error'>;
  clock?: Clock;
};

export type Simulator = { url: string; close: () => Promise<void> };

/**
 * The sandbox's providers: a server of its own that speaks telebirr's, CBE Birr's and Awash's formats, signs like them,
 * and decides by the payer's phone number (SANDBOX_PHONES) or the payee's phone or account (SANDBOX_PAYOUTS). Bind it to loopback: its admin
 * calls ask for no key, only for a name of this machine.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const onError = (error: unknown): void => options.log?.error({ err: error }, 'the simulator failed');
  const file = openStateFile(options.stateFile ?? null);
  const { offsetMs, orders, payouts: savedPayouts, transfers } = file.load();
  const clock = createMovableClock({ base: options.clock ?? systemClock, offsetMs, onError });
  const faults = createFaults();
  const http = createHttpClient();
  const counts = new Map<string, number>();

  const wires = new Map<SimulatedChannel, Wire>();
  const wireOf = (channel: SimulatedChannel): Wire => {
    const wire = wires.get(channel);
    if (!wire) throw new Error(`no wire for ${channel}`);
    return wire;
  };
  const orderSender = createCallbackSender<OrderState, Order>({
    clock,
    save: file.saveOrder,
    post: (order, callback) => post(http, order, wireOf(order.channel).callback(order, callback)),
  });
  const payoutSender = createCallbackSender<PayoutState, Payout>({
    clock,
    save: file.savePayout,
    post: (payout, callback) => post(http, payout, wireOf(payout.channel).payoutCallback(payout, callback)),
  });
  const book = createOrderBook({ clock, faults, file, sender: orderSender }, orders);
  const payouts = createPayoutBook({ clock, faults, file, sender: payoutSender }, savedPayouts);
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const deps: WireDeps = { book, payouts, clock, faults, count, publicUrl: options.simulatorPublicUrl ?? null };
  wires.set('TELEBIRR', createTelebirrWire(deps));
  wires.set('CBE_BIRR', createCbeBirrWire(deps));
  wires.set('AWASH', createAwashWire(deps));

  const app = new Koa();
  app.on('error', (error: Error & { expose?: boolean }) => {
    // What is exposed is the caller's mistake, which the caller is told.
    if (!error.expose) onError(error);
  });
  app.use(bodyParser({ enableTypes: ['json', 'form'], jsonLimit: '64kb' }));
  app.use(adminRoutes({ ...deps, counts, file, transfers }).routes());
  for (const wire of wires.values()) app.use(wire.routes.routes());

  const server = createServer(app.callback());
  const url = await listen(server, options);
  return {
    url,
    async close() {
      clock.stop();
      orderSender.forget();
      payoutSender.forget();
      await stopListening(server);
      await http.close();
    },
  };
}

async function post(http: HttpClient, to: { callbackUrl: string }, rendered: Rendered): Promise<number | null> {
  const signal = AbortSignal.timeout(CALLBACK_TIMEOUT_MS);
  const result = await http.send({ method: 'POST', url: to.callbackUrl, ...rendered, signal });
  return result.kind === 'answered' ? result.status : null;
}
