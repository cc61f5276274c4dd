import type { MerchantCaller } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { equalInConstantTime, hmac, sha256 } from '../lib/crypto.ts';
import { HOUR_MS } from '../lib/dates.ts';
import { rows, type Queryable } from '../lib/db.ts';
import type { Environment } from '../lib/scope.ts';

const TOKEN_CHARACTERS = 43;
/** The page may still be read, and claims made, this long after the session's end. */
const VALID_AFTER_END_MS = HOUR_MS;

/**
 * The token of a session's page: 256 bits that only the server can make from the session's id, so that the merchant can
 * be given the page's address again. Stored is its hash alone.
 */
export function clientTokenOf(pepper: string, sessionId: string): { token: string; hash: Buffer } {
  const token = hmac(pepper, `checkout session ${sessionId}`).toString('base64url');
  return { token, hash: sha256(token) };
}

type TokenRow = { merchantId: string; environment: Environment; clientTokenHash: Buffer; endedAt: Date | null };

export type TokenAuthenticator = {
  /**
   * Whom a token stands for: null when it is not this session's; 'ended' when it is no longer valid, from 1 h after the
   * session's end. Any text may come in.
   */
  readToken: (sessionId: string, token: string) => Promise<MerchantCaller | 'ended' | null>;
  /** The same where it does not matter why a token is not valid. */
  authenticateClientToken: (sessionId: string, token: string) => Promise<MerchantCaller | null>;
  /** Whether we made the token for this session, as far as its signature tells: of tokens made elsewhere it does not. */
  isOurToken: (sessionId: string, token: string) => boolean;
};

/** Checks the tokens of sessions' pages: one query each. */
export function createTokenAuthenticator(deps: {
  db: Queryable;
  clock: Clock;
  peppers: readonly string[];
}): TokenAuthenticator {
  const { db, clock, peppers } = deps;

  async function readToken(sessionId: string, token: string): Promise<MerchantCaller | 'ended' | null> {
    if (token.length !== TOKEN_CHARACTERS || !isSessionId(sessionId)) return null;
    const [row] = await rows<TokenRow>(
      db,
      `SELECT merchant_id, environment, client_token_hash, ended_at FROM checkout_session WHERE id = :sessionId`,
      { sessionId },
    );
    if (!row || !equalInConstantTime(sha256(token), row.clientTokenHash)) return null;
    if (row.endedAt && row.endedAt.getTime() + VALID_AFTER_END_MS <= clock().getTime()) return 'ended';
    return { kind: 'client', merchantId: row.merchantId, environment: row.environment, sessionId };
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

/** As `newId` makes them: nothing else is asked for. */
const isSessionId = (text: string): boolean => /^cs_[0-9A-Z]{26}$/.test(text);
