import { cbeBirr } from '../cbe-birr/manifest.ts';
import type { Manifest } from '../manifest.ts';

/**
 * Awash publishes no merchant API at all: until it does, it is assumed to speak CBE Birr's protocol, with payouts to bank
 * accounts too.
 */
export const awash = {
  ...cbeBirr,
  id: 'AWASH',
  name: 'Awash',
  transactionThrough: 'awashbirr',
  position: 3,
  limits: {
    payIn: { minSantim: 100n, maxSantim: 60_000_000n },
    payOut: { minSantim: 100n, maxSantim: 60_000_000n },
  },
  issuer: 'Awash',
  payoutTo: ['phone', 'bank'],
  sandbox: {
    path: '/awash',
    credentials: {
      companyName: 'Meskot',
      tillCode: '300001',
      token: 'sandbox-awash-token',
      hashKey: 'sandbox-awash-hash-key',
    },
  },
} as const satisfies Manifest;
