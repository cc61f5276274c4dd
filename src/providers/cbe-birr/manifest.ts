import type { Manifest } from '../manifest.ts';

/** CBE Birr of the Commercial Bank of Ethiopia: a USSD push. */
export const cbeBirr = {
  id: 'CBE_BIRR',
  name: 'CBE Birr',
  transactionThrough: 'cbebirr',
  position: 2,
  limits: {
    payIn: { minSantim: 100n, maxSantim: 15_000_000n },
    payOut: { minSantim: 100n, maxSantim: 30_000_000n },
  },
  protocol: 'cbe-birr',
  issuer: 'CBE Birr',
  payoutTo: ['phone'],
  hasPlainOrderIds: false,
  service: {},
  credentials: {
    companyName: { kind: 'text', shown: 'whole', help: 'as registered for the till' },
    tillCode: { kind: 'text', shown: 'whole', help: 'the till' },
    token: { kind: 'text', isSecret: true, help: 'the access token' },
    hashKey: { kind: 'text', isSecret: true, help: 'part of every signature, never sent' },
  },
  account: 'tillCode',
  tokenBy: null,
  signedWith: ['token', 'hashKey', 'tillCode', 'companyName'],
  sandbox: {
    path: '/cbebirr',
    credentials: {
      companyName: 'Meskot',
      tillCode: '200001',
      token: 'sandbox-cbebirr-token',
      hashKey: 'sandbox-cbebirr-hash-key',
    },
  },
} as const satisfies Manifest;
