import { createPublicKey } from 'node:crypto';

import { readCallback } from '../exchange.ts';
import type { Adapter } from '../provider.ts';
import { pemBlocks } from '../settings.ts';
import { verifyTelebirr } from './signing.ts';
import type { TelebirrConfig } from './wire.ts';

/** The notify message, signed by any of telebirr's keys. Throws at once when one is not a key. */
export function connectCallback(config: TelebirrConfig): Pick<Adapter, 'parseCallback' | 'callbackResponse'> {
  const { signatureScheme: scheme } = config;
  const providerKeys = pemBlocks(config.providerPublicKey).map((block) => ({ key: createPublicKey(block), scheme }));
  return {
    callbackResponse: { contentType: 'application/json', body: '{"code":"0","msg":"success"}' },
    parseCallback: ({ body }) =>
      readCallback(body, 'merch_order_id', (message) => providerKeys.some((key) => verifyTelebirr(message, key))),
  };
}
