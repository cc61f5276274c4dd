import type { MerchantCaller } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { equalInConstantTime, hmac, sha256 } from '../lib/crypto.ts';
import { HOUR_MS } from '../lib/dates.ts';
import { first, type Queryable } from '../lib/db.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';

const TOKEN_CHARACTERS = 43;
/** The page can still be read, and outcomes reported, this long after the session's end. */
const VALID_AFTER_END_MS = HOUR_MS;

/**
 * The token of a session's page: 256 bits derived from the session's id with the server's secret, so that the address can
 * be given to the merchant again. Only its hash is stored.
 */
export function clientTokenOf(pepper: string, sessionId: string): { token: string; hash: Buffer } {
  const token = hmac(pepper, `checkout session ${sessionId}`).toString('base64url');
  return { token, hash: sha256(token) };
}

type TokenRow = MerchantScope & { clientTokenHash: Buffer; endedAt: Date | null };

export type TokenAuthenticator = {
  /**
   * The caller of a token: null when it is not this session's; 'ended' when it is no longer valid, from 1 h after the
   * session's end. Accepts any text.
   */
  readToken: (sessionId: string, token: string) => Promise<MerchantCaller | 'ended' | null>;
  /** The same, without the reason why a token is not valid. */
  authenticateClientToken: (sessionId: string, token: string) => Promise<MerchantCaller | null>;
  /** Whether this server derived the token for this session, by its signature alone. */
  isOurToken: (sessionId: string, token: string) => boolean;
};

/** Checks tokens of session pages: one query each. */
export function createTokenAuthenticator(deps: {
  db: Queryable;
  clock: Clock;
  peppers: readonly string[];
}): TokenAuthenticator {
  const { db, clock, peppers } = deps;

  async function readToken(sessionId: string, token: string): Promise<MerchantCaller | 'ended' | null> {
    if (token.length !== TOKEN_CHARACTERS || !isSessionId(sessionId)) return null;
    const sql =
      'SELECT merchant_id, environment, client_token_hash, ended_at FROM checkout_session WHERE id = :sessionId';
    const row = await first<TokenRow>(db, sql, { sessionId });
    if (!row || !equalInConstantTime(sha256(token), row.clientTokenHash)) return null;
    if (row.endedAt && row.endedAt.getTime() + VALID_AFTER_END_MS <= clock().getTime()) return 'ended';
    return { kind: 'client', ...scopeOf(row), sessionId };
  }

  return {
    readToken,
    authenticateClientToken: async (sessionId, token) => {
      const caller = await readToken(sessionId, token);
      return caller === 'ended' ? null : caller;
    },
    isOurToken: (sessionId, token) => {
      if (token.length !== TOKEN_CHARACTERS || !isSessionId(sessionId)) return false;
      const hash = sha256(token);
      return peppers.some((pepper) => equalInConstantTime(hash, clientTokenOf(pepper, sessionId).hash));
    },
  };
}

/** The form of `newId('cs')`: no other text is queried. */
const isSessionId = (text: string): boolean => /^cs_[0-9A-Z]{26}$/.test(text);
