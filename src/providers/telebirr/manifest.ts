import type { Manifest } from '../manifest.ts';

/** telebirr of Ethio telecom: its H5/C2B fabric. */
export const telebirr = {
  id: 'TELEBIRR',
  name: 'telebirr',
  transactionThrough: 'telebirr',
  position: 1,
  limits: {
    payIn: { minSantim: 100n, maxSantim: 7_500_000n },
    payOut: { minSantim: 100n, maxSantim: 7_500_000n },
  },
  protocol: 'telebirr',
  issuer: 'Ethio telecom',
  payoutTo: ['phone'],
  hasPlainOrderIds: true,
  service: {
    payPageUrl: {
      kind: 'page',
      sandboxPath: '/payment/web/paygate',
      help: 'the page where customers confirm, to which the signed order is appended',
    },
    providerPublicKey: {
      kind: 'publicKeys',
      help: "verify telebirr's callbacks; the old and the new one while telebirr replaces its key",
    },
    signatureScheme: {
      kind: 'choice',
      of: ['PSS', 'PKCS1'],
      help: 'the padding of RSA signatures, ours and theirs',
    },
  },
  credentials: {
    appKey: {
      kind: 'text',
      isSecret: true,
      shown: 'end',
      help: 'the fabric application id, sent as X-APP-Key',
    },
    appSecret: { kind: 'text', isSecret: true, help: 'its secret, for tokens' },
    appId: { kind: 'text', shown: 'end', help: 'the merchant application id (`appid`)' },
    merchantCode: { kind: 'text', shown: 'whole', help: 'the short code (`merch_code`)' },
    merchantPrivateKey: { kind: 'privateKey', help: 'signs our messages' },
  },
  account: 'merchantCode',
  tokenBy: ['appKey', 'appSecret'],
  signedWith: ['appId', 'merchantCode'],
  sandbox: {
    path: '/telebirr',
    credentials: {
      appKey: 'c4182ef8-9249-458a-985e-06d191f4d505',
      appSecret: 'sandbox-telebirr-app-secret',
      appId: '1000000000000001',
      merchantCode: '100001',
    },
  },
} as const satisfies Manifest;
