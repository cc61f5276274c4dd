import { readCallback } from '../exchange.ts';
import type { Adapter } from '../provider.ts';
import { verifyCbeBirr } from './signing.ts';
import type { CbeBirrConfig } from './wire.ts';

/** Public samples of this callback skip the check; then the address alone would suffice to confirm payments. */
export const connectCallback = ({ hashKey }: CbeBirrConfig): Pick<Adapter, 'parseCallback' | 'callbackResponse'> => ({
  callbackResponse: { contentType: 'application/json', body: '{"resultCode":"0"}' },
  parseCallback: ({ body }) => readCallback(body, 'transactionId', (message) => verifyCbeBirr(message, hashKey)),
});
