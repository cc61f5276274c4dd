import { signCbeBirr, verifyCbeBirr } from '../../lib/provider-signing.ts';
import { SANDBOX_CBE_BIRR } from '../../lib/sandbox-providers.ts';
import type { Callback } from './callback.ts';
import { respond, bodyOf, text, type Rendered, type WireContext } from './protocol.ts';

const { hashKey, ...till } = SANDBOX_CBE_BIRR;

/** Whether the merchant signed this request; one that did not has got its answer. */
export function isAllowed(ctx: WireContext): boolean {
  const fields = bodyOf(ctx);
  const right = text(fields, 'token') === till.token && text(fields, 'tillCode') === till.tillCode;
  if (right && verifyCbeBirr(fields, hashKey)) return true;
  respondSigned(ctx, { state: 'REJECTED', resultCode: 'INVALID_SIGNATURE', resultDesc: 'token or signature is wrong' });
  return false;
}

export function respondSigned(ctx: WireContext, fields: Record<string, unknown>): void {
  respond(ctx, 200, { ...fields, signature: signCbeBirr(fields, hashKey) });
}

/** The callback as it is sent. A wrong signature is one made with another key. */
export function signed(fields: Record<string, string>, { signature, dueAtMs }: Callback<string>): Rendered {
  const message = { ...till, ...fields, transactionTime: new Date(dueAtMs).toISOString() };
  const right = { ...message, signature: signCbeBirr(message, signature === 'wrong' ? 'another-key' : hashKey) };
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(signature === 'missing' ? message : right),
  };
}
