import { z } from 'zod';

import type { Clock } from '../../lib/clock.ts';
import { inAddis } from '../../lib/dates.ts';
import { signCbeBirr } from '../../lib/provider-signing.ts';
import { exchange, type ProviderDeps, type Reply } from '../exchange.ts';
import type { Unknown } from '../provider.ts';

export type CbeBirrConfig = {
  baseUrl: string;
  companyName: string;
  tillCode: string;
  token: string;
  /** Part of every signature, never sent. */
  hashKey: string;
};

export type CbeBirrCall = (path: string, fields: Record<string, string>) => Promise<Reply | Unknown>;

/** A signed POST of these fields beside the till's own. */
export function createCbeBirrCall(deps: ProviderDeps, config: CbeBirrConfig): CbeBirrCall {
  const { baseUrl, hashKey, ...till } = config;
  return (path, fields) => {
    const message = { ...till, transactionTime: addisTime(deps.clock), ...fields };
    return exchange(deps.http, {
      method: 'POST',
      url: `${baseUrl}${path}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...message, signature: signCbeBirr(message, hashKey) }),
      signal: AbortSignal.timeout(deps.timeoutMs),
    });
  };
}

/** `yyyy-MM-dd HH:mm:ss` in Addis Ababa. */
function addisTime(clock: Clock): string {
  return inAddis(clock()).toISOString().slice(0, 19).replace('T', ' ');
}

const Named = z.object({ transactionId: z.string() });

/** Whether a reply is about our order. A rejected request may name none. */
export function cbeBirrOrder(reply: Reply, orderId: string, { isRejection }: { isRejection: boolean }) {
  const body = Named.safeParse(reply.body);
  return { ours: orderId, named: body.success ? body.data.transactionId : undefined, mayBeNameless: isRejection };
}
