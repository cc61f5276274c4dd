import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';

import { signTelebirr, verifyTelebirr } from '../../lib/provider-signing.ts';
import { SANDBOX_TELEBIRR } from '../../lib/sandbox-providers.ts';
import type { Callback } from './callback.ts';
import { respond, bodyOf, type Rendered, type WireContext } from './protocol.ts';

const merchantKey = {
  key: createPublicKey(SANDBOX_TELEBIRR.merchantPublicKey),
  scheme: SANDBOX_TELEBIRR.signatureScheme,
};
const ownKey = { key: createPrivateKey(SANDBOX_TELEBIRR.providerPrivateKey), scheme: SANDBOX_TELEBIRR.signatureScheme };

/** Whether the merchant signed this request; one that did not has got its answer. */
export function isSigned(ctx: WireContext): boolean {
  if (verifyTelebirr(bodyOf(ctx), merchantKey)) return true;
  respond(ctx, 200, { result: 'FAIL', code: 'INVALID_SIGN', msg: 'sign is not of this message' });
  return false;
}

export function contentOf(ctx: WireContext): Record<string, unknown> {
  const content = bodyOf(ctx)['biz_content'];
  return typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : {};
}

export function respondSigned(ctx: WireContext, content: Record<string, unknown>): void {
  const nonce = randomBytes(16).toString('hex');
  const message = { result: 'SUCCESS', code: '0', msg: 'success', nonce_str: nonce, biz_content: content };
  respond(ctx, 200, { ...message, sign: signTelebirr(message, ownKey), sign_type: 'SHA256WithRSA' });
}

/** The notify message as it is sent. Its times are milliseconds, as telebirr's often are. */
export function notification(
  content: Record<string, string> & { merch_order_id: string },
  callback: Callback<string>,
): Rendered {
  const message = {
    appid: SANDBOX_TELEBIRR.appId,
    merch_code: SANDBOX_TELEBIRR.merchantCode,
    ...content,
    notify_time: String(callback.dueAtMs),
  };
  // A wrong signature is a real one, of another message.
  const signed =
    callback.signature === 'wrong' ? { ...message, merch_order_id: `${content.merch_order_id}X` } : message;
  const signature = { sign: signTelebirr(signed, ownKey), sign_type: 'SHA256WithRSA' };
  const body = JSON.stringify(callback.signature === 'missing' ? message : { ...message, ...signature });
  return { headers: { 'content-type': 'application/json' }, body };
}
