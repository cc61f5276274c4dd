import type { MerchantCaller } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { equalInConstantTime, hmac, sha256 } from '../lib/crypto.ts';
import { HOUR_MS } from '../lib/dates.ts';
import { rows, type Queryable } from '../lib/db.ts';
import type { Environment } from '../lib/owner.ts';

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

/** Tells whether a token is this session's and still valid (until 1 h after the session's end). Any text may come in. */
export function authenticateClientToken(
  db: Queryable,
  clock: Clock,
): (sessionId: string, token: string) => Promise<MerchantCaller | null> {
  return async (sessionId, token) => {
    if (token.length !== TOKEN_CHARACTERS || sessionId.includes('\0')) return null;
    const [row] = await rows<TokenRow>(
      db,
      `SELECT merchant_id, environment, client_token_hash, ended_at FROM checkout_session WHERE id = :sessionId`,
      { sessionId },
    );
    if (!row || !equalInConstantTime(sha256(token), row.clientTokenHash)) return null;
    if (row.endedAt && row.endedAt.getTime() + VALID_AFTER_END_MS <= clock().getTime()) return null;
    return { kind: 'client', merchantId: row.merchantId, environment: row.environment, sessionId };
  };
}
