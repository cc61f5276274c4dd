import { randomBytes } from 'node:crypto';

import { z } from 'zod';

import type { RsaScheme, SignedMessage } from '../lib/provider-signing.ts';
import { exchange, readReply, unknownStatus, type ProviderDeps, type Reply } from './exchange.ts';
import type { Unknown } from './provider.ts';

/** telebirr's H5/C2B fabric. */
export type TelebirrConfig = {
  /** The fabric's API. */
  baseUrl: string;
  /** The page where the customer confirms, with the signed order appended; null: no page, confirmation by phone only. */
  payPageUrl: string | null;
  appKey: string;
  appSecret: string;
  appId: string;
  merchantCode: string;
  merchantPrivateKey: string;
  providerPublicKey: string;
  signatureScheme: RsaScheme;
  /** Sandbox only: telebirr's order carries no payer, so the phone travels in `callback_info`. */
  phoneInCallbackInfo: boolean;
};

/** The envelope of every reply of the fabric. */
export const Envelope = z.object({
  result: z.string().optional(),
  code: z.string().optional(),
  msg: z.string().optional(),
  errorCode: z.string().optional(),
  errorMsg: z.string().optional(),
  biz_content: z.unknown().optional(),
});
export type Envelope = z.output<typeof Envelope>;

export type Sign = (message: SignedMessage) => string;

/** `operation`: the last part of its path; in lower case it is the method of the message. */
export type TelebirrCall = (operation: string, content: SignedMessage) => Promise<Reply | Unknown>;

/** A signed, authorised call; a token that telebirr rejects is replaced once, within the same time limit. */
export function createTelebirrCall(deps: ProviderDeps, config: TelebirrConfig, sign: Sign): TelebirrCall {
  const tokens = createTelebirrToken(deps, config);
  return async (operation, fields) => {
    const signal = AbortSignal.timeout(deps.timeoutMs);
    const method = `payment.${operation.toLowerCase()}`;
    const content = { ...merchant(config), ...fields };
    const message = { ...stamp(deps.clock()), method, version: '1.0', biz_content: content };
    const body = JSON.stringify({ ...message, sign: sign(message), sign_type: 'SHA256WithRSA' });
    for (let tries = 1; ; tries += 1) {
      const token = await tokens.get(signal);
      if (token.kind === 'unknown') return token;
      const reply = await exchange(deps.http, {
        method: 'POST',
        url: `${config.baseUrl}/payment/v1/merchant/${operation}`,
        headers: { 'content-type': 'application/json', 'x-app-key': config.appKey, authorization: token.token },
        body,
        signal,
      });
      if (reply.kind === 'unknown' || reply.status !== 401) return reply;
      tokens.drop(token.token);
      if (tries === 2)
        return { kind: 'unknown', reason: 'http', message: 'telebirr rejected the token it had just issued' };
    }
  };
}

/** The fabric's result code; two generations of the fabric name the field differently. */
export function codeOf(response: Envelope): string | null {
  return response.errorCode ?? response.code ?? null;
}

/** The fields that identify the merchant. */
export function merchant(config: TelebirrConfig) {
  return { appid: config.appId, merch_code: config.merchantCode };
}

/** The timestamp and a nonce. */
export function stamp(now: Date) {
  return { timestamp: String(Math.floor(now.getTime() / 1000)), nonce_str: randomBytes(16).toString('hex') };
}

const RENEW_EARLY_MS = 5 * 60_000;

const TokenReply = z.object({ token: z.string().min(1), effectiveDate: z.string(), expirationDate: z.string() });

type TokenResult = { kind: 'token'; token: string } | Unknown;

type TelebirrToken = {
  /** The bearer token, shared by concurrent callers and renewed 5 minutes before it expires. */
  get: (signal: AbortSignal) => Promise<TokenResult>;
  /** Discards this token, because telebirr rejected it, unless a newer one has replaced it. */
  drop: (token: string) => void;
};

/** POST /payment/v1/token: X-APP-Key and the secret for a bearer token with an expiry. */
function createTelebirrToken(
  deps: ProviderDeps,
  config: { baseUrl: string; appKey: string; appSecret: string },
): TelebirrToken {
  let current: { token: string; renewAtMs: number } | null = null;
  let fetching: Promise<TokenResult> | null = null;

  async function requestToken(signal: AbortSignal): Promise<TokenResult> {
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
    // The difference of its two times is its lifetime, whatever their zone and however wrong either clock is.
    const lifeMs = parseCompactTime(expirationDate) - parseCompactTime(effectiveDate);
    current = { token, renewAtMs: deps.clock().getTime() + (Number.isNaN(lifeMs) ? 0 : lifeMs - RENEW_EARLY_MS) };
    return { kind: 'token', token };
  }

  return {
    async get(signal) {
      if (current && deps.clock().getTime() < current.renewAtMs) return { kind: 'token', token: current.token };
      fetching ??= requestToken(signal).finally(() => (fetching = null));
      return fetching;
    },
    drop(token) {
      if (current?.token === token) current = null;
    },
  };
}

/** `yyyyMMddHHmmss` as milliseconds, read as UTC; NaN if it is not such a time. */
function parseCompactTime(text: string): number {
  const parts = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})$/.exec(text);
  if (!parts) return Number.NaN;
  const [, year, month, day, hour, minute, second] = parts;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
