import { z } from 'zod';

import { exchange, readReply, unknownStatus, type ProviderDeps } from '../exchange.ts';
import type { Unknown } from '../provider.ts';

const RENEW_EARLY_MS = 5 * 60_000;

const TokenReply = z.object({ token: z.string().min(1), effectiveDate: z.string(), expirationDate: z.string() });

type TokenResult = { kind: 'token'; token: string } | Unknown;

type TelebirrToken = {
  /** The bearer token, asked for once however many wait for it, and again 5 minutes before it expires. */
  get: (signal: AbortSignal) => Promise<TokenResult>;
  /** Drops this token, because telebirr refused it. A newer one stays. */
  drop: (token: string) => void;
};

/** POST /payment/v1/token: X-APP-Key and the secret for a bearer token with an expiry. */
export function createTelebirrToken(
  deps: ProviderDeps,
  config: { baseUrl: string; appKey: string; appSecret: string },
): TelebirrToken {
  let held: { token: string; renewAtMs: number } | null = null;
  let fetching: Promise<TokenResult> | null = null;

  async function ask(signal: AbortSignal): Promise<TokenResult> {
    const reply = await exchange(deps.http, {
      method: 'POST',
      url: `${config.baseUrl}/payment/v1/token`,
      headers: { 'content-type': 'application/json', 'x-app-key': config.appKey },
      body: JSON.stringify({ appSecret: config.appSecret }),
      signal,
    });
    if (reply.kind === 'unknown') return reply;
    if (reply.status !== 200) return unknownStatus(reply.status);
    const read = readReply(reply, TokenReply);
    if (read.kind === 'unknown') return read;
    const { token, effectiveDate, expirationDate } = read.value;
    // The difference of its two times is its life, whatever zone they are in and however wrong either clock is.
    const lifeMs = parseCompactTime(expirationDate) - parseCompactTime(effectiveDate);
    held = { token, renewAtMs: deps.clock().getTime() + (Number.isNaN(lifeMs) ? 0 : lifeMs - RENEW_EARLY_MS) };
    return { kind: 'token', token };
  }

  return {
    async get(signal) {
      if (held && deps.clock().getTime() < held.renewAtMs) return { kind: 'token', token: held.token };
      fetching ??= ask(signal).finally(() => (fetching = null));
      return fetching;
    },
    drop(token) {
      if (held?.token === token) held = null;
    },
  };
}

/** `yyyyMMddHHmmss` as milliseconds, as if it were UTC; NaN when it is not such a time. */
function parseCompactTime(text: string): number {
  const parts = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})$/.exec(text);
  if (!parts) return Number.NaN;
  const [, year, month, day, hour, minute, second] = parts;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
