import type { Announced } from '../manifest.ts';

/** M-Pesa of Safaricom, announced only. */
export const mpesa = {
  id: 'MPESA',
  name: 'M-Pesa',
  transactionThrough: 'mpesa',
  position: 4,
  limits: {
    payIn: { minSantim: 2_000n, maxSantim: 7_500_000n },
    payOut: { minSantim: 100n, maxSantim: 7_500_000n },
  },
} as const satisfies Announced;
