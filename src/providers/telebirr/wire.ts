import { createPrivateKey, randomBytes } from 'node:crypto';
import { once } from 'node:events';

import { z } from 'zod';

import type { SignedMessage } from '../../lib/provider-signing.ts';
import { exchange, readReply, unknownStatus, type ProviderDeps, type Reply } from '../exchange.ts';
import type { ValuesOf } from '../manifest.ts';
import type { Unknown } from '../provider.ts';
import type { telebirr } from './manifest.ts';
import { signTelebirr } from './signing.ts';

/** telebirr's H5/C2B fabric, and an account there. */
export type TelebirrConfig = ValuesOf<typeof telebirr.credentials> &
  Omit<ValuesOf<typeof telebirr.service>, 'payPageUrl'> & {
    baseUrl: string;
    /** The page where the customer confirms, with the signed order appended; null: no page, confirmation by phone only. */
    payPageUrl: string | null;
    isSandbox?: boolean;
  };
export type TelebirrWire = ReturnType<typeof createTelebirrWire>;

/** Calls of the fabric and links to its pay page, signed. Throws at once when the merchant's key is not one. */
export function createTelebirrWire(deps: ProviderDeps, config: TelebirrConfig) {
  const key = { key: createPrivateKey(config.merchantPrivateKey), scheme: config.signatureScheme };
  const tokens = createTelebirrToken(deps, config);
  const merchant = { appid: config.appId, merch_code: config.merchantCode };
  const signed = <Message extends SignedMessage>(fields: Message) => {
    const timestamp = String(Math.floor(deps.clock().getTime() / 1000));
    const message = { timestamp, nonce_str: randomBytes(16).toString('hex'), ...fields };
    return { ...message, sign: signTelebirr(message, key), sign_type: 'SHA256WithRSA' };
  };

  return {
    /**
     * A signed, authorised call; a token that telebirr rejects is replaced once, within the same time limit. `operation` is
     * the last part of its path; in lower case it is the method of the message.
     */
    async call(operation: string, content: SignedMessage): Promise<Reply | Unknown> {
      const signal = AbortSignal.timeout(deps.timeoutMs);
      const method = `payment.${operation.toLowerCase()}`;
      const body = JSON.stringify(signed({ method, version: '1.0', biz_content: { ...merchant, ...content } }));
      for (let tries = 1; ; tries += 1) {
        const token = await tokens.get(signal);
        if (token.kind === 'unknown') return token;
        const reply = await exchange(deps.http, {
          url: `${config.baseUrl}/payment/v1/merchant/${operation}`,
          headers: { 'x-app-key': config.appKey, authorization: token.token },
          body,
          signal,
        });
        if (reply.kind === 'unknown' || reply.status !== 401) return reply;
        tokens.drop(token.token);
        if (tries === 2)
          return { kind: 'unknown', reason: 'http', message: 'telebirr rejected the token it had just issued' };
      }
    },

    /** The pay page's address with the signed order; null where there is no page. The base64 signature is encoded. */
    payLink(prepayId: string): string | null {
      if (config.payPageUrl === null) return null;
      const query = new URLSearchParams(signed({ ...merchant, prepay_id: prepayId }));
      return `${config.payPageUrl}?${query.toString()}&version=1.0&trade_type=Checkout`;
    },
  };
}

const RENEW_EARLY_MS = 5 * 60_000;

/** The difference of its two times is a token's lifetime, whatever their zone and however wrong either clock is. */
const TokenReply = z
  .object({ body: z.object({ token: z.string().min(1), effectiveDate: z.string(), expirationDate: z.string() }) })
  .transform(({ body: { token, effectiveDate, expirationDate } }) => ({
    kind: 'token' as const,
    token,
    lifeMs: parseCompactTime(expirationDate) - parseCompactTime(effectiveDate) || 0,
  }));

type Token = { kind: 'token'; token: string };

/** POST /payment/v1/token: X-APP-Key and the secret for a bearer token with an expiry. */
export function createTelebirrToken({ http, clock, timeoutMs }: ProviderDeps, config: TelebirrConfig) {
  let current: (Token & { renewAtMs: number }) | null = null;
  let fetching: Promise<Token | Unknown> | null = null;

  async function requestToken(): Promise<Token | Unknown> {
    const reply = await exchange(http, {
      url: `${config.baseUrl}/payment/v1/token`,
      headers: { 'x-app-key': config.appKey },
      body: JSON.stringify({ appSecret: config.appSecret }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (reply.kind === 'reply' && reply.status !== 200) return unknownStatus(reply.status);
    const token = readReply(reply, TokenReply);
    if (token.kind === 'token') current = { ...token, renewAtMs: clock().getTime() + token.lifeMs - RENEW_EARLY_MS };
    return token;
  }

  return {
    /**
     * The bearer token, renewed 5 minutes before it expires. Concurrent callers share one request, which has a time limit of
     * its own: a caller's signal ends the wait of this caller only.
     */
    async get(signal: AbortSignal): Promise<Token | Unknown> {
      if (current && clock().getTime() < current.renewAtMs) return current;
      fetching ??= requestToken().finally(() => (fetching = null));
      return Promise.race([fetching, outOfTime(signal)]);
    },
    /** Discards this token, because telebirr rejected it, unless a newer one has replaced it. */
    drop(token: string): void {
      if (current?.token === token) current = null;
    },
  };
}

async function outOfTime(signal: AbortSignal): Promise<Unknown> {
  if (!signal.aborted) await once(signal, 'abort');
  return { kind: 'unknown', reason: 'timeout', message: 'no token in time' };
}

/** `yyyyMMddHHmmss` as milliseconds, read as UTC; NaN if it is not such a time. */
function parseCompactTime(text: string): number {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/;
  return parts.test(text) ? Date.parse(text.replace(parts, '$1-$2-$3T$4:$5:$6Z')) : Number.NaN;
}
