import { z } from 'zod';

import { signAwash } from '../../lib/provider-signing.ts';
import { exchange, type ProviderDeps, type Reply } from '../exchange.ts';
import type { Unknown } from '../provider.ts';

/**
 * Awash publishes no merchant API. The contract assumed here is described in src/sandbox/simulator/awash.ts.
 */
export type AwashConfig = { baseUrl: string; merchantId: string; secret: string };

export type AwashCall = (method: 'GET' | 'POST', path: string, message?: object) => Promise<Reply | Unknown>;

/** A signed call. The signature of a GET, which has no body, covers its path. */
export function createAwashCall(deps: ProviderDeps, config: AwashConfig): AwashCall {
  return (method, path, message = {}) => {
    const timestamp = deps.clock().toISOString();
    const body = method === 'POST' ? JSON.stringify(message) : null;
    return exchange(deps.http, {
      method,
      url: `${config.baseUrl}${path}`,
      headers: {
        'content-type': 'application/json',
        'x-merchant-id': config.merchantId,
        'x-timestamp': timestamp,
        'x-signature': signAwash(timestamp, body ?? path, config.secret),
      },
      ...(body === null ? {} : { body }),
      signal: AbortSignal.timeout(deps.timeoutMs),
    });
  };
}

const Named = z.object({ orderId: z.string() });

/** Whether a reply is about our order. A rejected request may name none. */
export function awashOrder(reply: Reply, orderId: string, { isRejection }: { isRejection: boolean }) {
  const body = Named.safeParse(reply.body);
  return { ours: orderId, named: body.success ? body.data.orderId : undefined, mayBeNameless: isRejection };
}
