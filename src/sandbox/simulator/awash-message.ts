import { signAwash, verifyAwash } from '../../lib/provider-signing.ts';
import { SANDBOX_AWASH } from '../../lib/sandbox-providers.ts';
import type { Callback } from './callback.ts';
import { respond, type Rendered, type WireContext } from './protocol.ts';

/** Whether the merchant signed this request; one that did not has got its answer. */
export function isAllowed(ctx: WireContext): boolean {
  const text = ctx.method === 'GET' ? ctx.url.replace(/^\/awash/, '') : (ctx.request.rawBody ?? '');
  const known = ctx.get('x-merchant-id') === SANDBOX_AWASH.merchantId;
  if (known && verifyAwash(ctx.headers, text, SANDBOX_AWASH.secret)) return true;
  respond(ctx, 401, { state: 'REFUSED', reasonCode: 'INVALID_SIGNATURE', reason: 'merchant or signature is wrong' });
  return false;
}

/** The callback as it is sent. A wrong signature is one made with another secret. */
export function signed(message: object, { signature, dueAtMs }: Callback<string>): Rendered {
  const body = JSON.stringify(message);
  const timestamp = new Date(dueAtMs).toISOString();
  const secret = signature === 'wrong' ? 'another-secret' : SANDBOX_AWASH.secret;
  const headers = { 'x-timestamp': timestamp, 'x-signature': signAwash(timestamp, body, secret) };
  return { headers: { 'content-type': 'application/json', ...(signature === 'missing' ? {} : headers) }, body };
}
