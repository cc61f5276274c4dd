import { randomBytes } from 'node:crypto';

import type { MerchantCaller } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { equalInConstantTime, hmac, sha256 } from '../lib/crypto.ts';
import { HOUR_MS } from '../lib/dates.ts';
import { rows, type Queryable } from '../lib/db.ts';
import type { Environment } from '../lib/owner.ts';

const RANDOM_BYTES = 24;
const TAG_BYTES = 8;
const TOKEN_CHARACTERS = 43;
/** The page may still be read, and claims made, this long after the session's end. */
const VALID_AFTER_END_MS = HOUR_MS;

/**
 * A new token of a session's page: shown once, only its hash is stored. Its last bytes sign the random ones, so that a
 * guess is told apart without a query.
 */
export function newClientToken(sessionId: string, pepper: string): { token: string; hash: Buffer } {
  const random = randomBytes(RANDOM_BYTES);
  const token = Buffer.concat([random, tagOf(sessionId, pepper, random)]).toString('base64url');
  return { token, hash: sha256(token) };
}

function tagOf(sessionId: string, pepper: string, random: Buffer): Buffer {
  return hmac(pepper, `client token ${sessionId} ${random.toString('hex')}`).subarray(0, TAG_BYTES);
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
      const bytes = Buffer.from(token, 'base64url');
      const random = bytes.subarray(0, RANDOM_BYTES);
      const tag = bytes.subarray(RANDOM_BYTES);
      return peppers.some((pepper) => equalInConstantTime(tag, tagOf(sessionId, pepper, random)));
    },
  };
}

/** As `newId` makes them: nothing else is asked for. */
const isSessionId = (text: string): boolean => /^cs_[0-9A-Z]{26}$/.test(text);
