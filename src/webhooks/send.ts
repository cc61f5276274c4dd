import { createConnect, createResolve, type Resolve } from '../lib/egress-connect.ts';
import { createConnections } from '../lib/egress-connections.ts';
import type { EgressGuard } from '../lib/egress.ts';
import { createExchange, unsentResult, type SendRequest, type SendResult } from './exchange.ts';

export type { SendRequest, SendResult } from './exchange.ts';

export type SenderOptions = {
  guard: EgressGuard;
  proxyUrl?: string | undefined;
  /** One clock over DNS, connect, TLS, sending and the status line; 3,000 unless said. */
  timeoutMs?: number;
  /** Connections kept open between sends, over all receivers; 256 unless said. */
  idleConnectionsMax?: number;
  /** Name resolution other than the machine's name servers. */
  resolve?: Resolve;
  /** Certificate authorities trusted in place of the machine's, as PEM. */
  trustedCa?: string;
};

export type Sender = {
  /** Makes one POST. Never rejects for what a receiver or the network does; throws when asked for the impossible. */
  send: (request: SendRequest) => Promise<SendResult>;
  /** Lets what is being sent end (at most 4 s), then closes the connections. */
  close: () => Promise<void>;
};

/**
 * Sends webhooks over connections of its own, kept alive. Follows no redirects, decompresses nothing, and reads at most
 * 16 KiB for at most 1 s after the status, which never changes the verdict.
 */
export function createSender(options: SenderOptions): Sender {
  const timeoutMs = options.timeoutMs ?? 3_000;
  const connect = createConnect({ ...options, resolve: options.resolve ?? createResolve() });
  const connections = createConnections({ connect, idleMax: options.idleConnectionsMax ?? 256 });
  const exchange = createExchange({ connections, timeoutMs });
  const sending = new Set<Promise<SendResult>>();

  return {
    send: (request) => {
      const url = new URL(request.url);
      const refusal = options.guard.refusal(url);
      if (refusal !== null) {
        const message = `Nothing was sent: the URL ${refusal}.`;
        return Promise.resolve(unsentResult({ code: 'blocked_target', message }));
      }
      const result = exchange(request, url);
      sending.add(result);
      const forget = (): void => void sending.delete(result);
      result.then(forget, forget);
      return result;
    },
    close: async () => {
      connections.close();
      await Promise.allSettled(sending);
    },
  };
}
