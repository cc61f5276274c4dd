import { createServer } from 'node:http';

import { bodyParser } from '@koa/bodyparser';
import Koa from 'koa';

import { systemClock, type Clock } from '../../lib/clock.ts';
import { createHttpClient } from '../../lib/http-client.ts';
import { listen, stopListening } from '../../lib/listen.ts';
import type { Logger } from '../../lib/log.ts';
import { adminRoutes } from './admin.ts';
import { createCbeBirr } from './cbe-birr.ts';
import { createFaults, type SimulatedChannel } from './faults.ts';
import { createOrderStore } from './order-store.ts';
import { reportedOrder } from './order.ts';
import { protocolRoutes, type Protocol, type ProtocolDeps } from './protocol.ts';
import { openStateFile } from './state-file.ts';
import { createTelebirr } from './telebirr.ts';

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
};

export type Simulator = { url: string; close: () => Promise<void> };

/**
 * The sandbox's providers: one server with the protocols and signatures of telebirr, CBE Birr and Awash. The payer's
 * phone number (SANDBOX_PHONES) or the payee's phone or account (SANDBOX_PAYOUTS) decides the outcome. Bind it to
 * loopback: its admin API takes no key, it only checks for a name of this machine.
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
  };
  for (const protocol of [createTelebirr(deps), createCbeBirr('CBE_BIRR'), createCbeBirr('AWASH')]) {
    protocols.set(protocol.channel, protocol);
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
