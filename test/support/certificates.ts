import { generate } from 'selfsigned';

import { DAY_MS } from '../../src/lib/dates.ts';

/** A certificate and its private key, in PEM. */
export type TestCertificate = { cert: string; key: string };

/** As telebirr's keys; an authority signs for keys of its own kind only. */
const KIND = { keyType: 'rsa', keySize: 2_048, algorithm: 'sha256' } as const;

const inDays = (days: number): Date => new Date(Date.now() + days * DAY_MS);

/** A new certificate authority. */
export async function createAuthority(): Promise<TestCertificate> {
  const made = await generate([{ name: 'commonName', value: 'Test authority' }], {
    ...KIND,
    notBeforeDate: inDays(-100),
    notAfterDate: inDays(1_000),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  return { cert: made.cert, key: made.private };
}

/**
 * A certificate that the authority has signed, self-signed without one, that ends in so many days (ago, if negative). It is
 * for localhost and 127.0.0.1, or for that name only.
 */
export async function createCertificate(
  authority: TestCertificate | null,
  { days = 300, host }: { days?: number; host?: string } = {},
): Promise<TestCertificate> {
  const local = [{ type: 2, value: 'localhost' } as const, { type: 7, ip: '127.0.0.1' } as const];
  const made = await generate([{ name: 'commonName', value: host ?? 'localhost' }], {
    ...KIND,
    notBeforeDate: inDays(-90),
    notAfterDate: inDays(days),
    extensions: [{ name: 'subjectAltName', altNames: host === undefined ? local : [{ type: 2, value: host }] }],
    ...(authority && { ca: authority }),
  });
  return { cert: made.cert, key: made.private };
}
