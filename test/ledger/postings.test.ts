import {
  latePayoutPosting,
  paymentPosting,
  payoutPosting,
  releasePosting,
  reservePosting,
  reversalPosting,
  suspenseAcceptedPosting,
  suspensePosting,
  suspenseReturnedPosting,
  type Payout,
  type Posting,
  allocationPosting,
  receiptPosting,
} from '../../src/ledger/postings.ts';

const SCOPE = { merchantId: 'mrc_1', environment: 'sandbox' } as const;
const FEE = { feeSantim: 5n, feeTaxSantim: 1n };
const PAYMENT = {
  ...SCOPE,
  transactionId: 'txn_1',
  attemptId: 'pat_1',
  channel: 'TELEBIRR',
  amountSantim: 100n,
} as const;
const WITHDRAWAL: Payout = { ...SCOPE, ...FEE, type: 'withdrawal', id: 'wd_1', channel: 'AWASH', amountSantim: 100n };
const SETTLEMENT: Payout = { ...SCOPE, ...FEE, type: 'settlement', id: 'stl_1', amountSantim: 100n };
const RECEIPT = { id: 'rcp_1', environment: 'live', amountSantim: 100n } as const;
const PROVIDER = { channel: 'AWASH' } as const;

test.each<[string, Posting, Record<string, bigint>]>([
  [
    'a payment',
    paymentPosting({ ...PAYMENT, ...FEE }),
    { TELEBIRR: -100n, AVAILABLE: 94n, FEE_REVENUE: 5n, TAX_PAYABLE: 1n },
  ],
  ['held money', suspensePosting(PAYMENT), { TELEBIRR: -100n, SUSPENSE: 100n }],
  [
    'held money that is accepted',
    suspenseAcceptedPosting({ ...PAYMENT, ...FEE }),
    { SUSPENSE: -100n, AVAILABLE: 94n, FEE_REVENUE: 5n, TAX_PAYABLE: 1n },
  ],
  ['held money that is returned', suspenseReturnedPosting(PAYMENT), { SUSPENSE: -100n, TELEBIRR: 100n }],
  ['a reservation', reservePosting(WITHDRAWAL), { AVAILABLE: -106n, RESERVED: 106n }],
  ['a release', releasePosting(WITHDRAWAL), { RESERVED: -106n, AVAILABLE: 106n }],
  ['a withdrawal', payoutPosting(WITHDRAWAL), { RESERVED: -106n, AWASH: 100n, FEE_REVENUE: 5n, TAX_PAYABLE: 1n }],
  [
    'a withdrawal of which less was paid',
    payoutPosting({ ...WITHDRAWAL, paidSantim: 90n }),
    { RESERVED: -106n, AVAILABLE: 10n, AWASH: 90n, FEE_REVENUE: 5n, TAX_PAYABLE: 1n },
  ],
  [
    'a withdrawal of which more was paid',
    payoutPosting({ ...WITHDRAWAL, paidSantim: 107n }),
    { RESERVED: -106n, AWASH: 107n, FEE_REVENUE: 5n, TAX_PAYABLE: 1n, SUSPENSE: -7n },
  ],
  [
    'a withdrawal that was paid after its release',
    latePayoutPosting(WITHDRAWAL),
    { AVAILABLE: -106n, AWASH: 100n, FEE_REVENUE: 5n, TAX_PAYABLE: 1n },
  ],
  [
    'the reversal of a withdrawal',
    reversalPosting(WITHDRAWAL),
    { AVAILABLE: 106n, AWASH: -100n, FEE_REVENUE: -5n, TAX_PAYABLE: -1n },
  ],
  ['a settlement', payoutPosting(SETTLEMENT), { RESERVED: -106n, BANK: 100n, FEE_REVENUE: 5n, TAX_PAYABLE: 1n }],
  [
    'the return of a settlement',
    reversalPosting(SETTLEMENT),
    { AVAILABLE: 106n, BANK: -100n, FEE_REVENUE: -5n, TAX_PAYABLE: -1n },
  ],
  ['a remittance', receiptPosting({ ...RECEIPT, ...PROVIDER, kind: 'REMITTANCE' }), { BANK: -100n, AWASH: 100n }],
  ['unallocated money', receiptPosting({ ...RECEIPT, kind: 'UNALLOCATED' }), { BANK: -100n, SUSPENSE: 100n }],
  ['a recovery', receiptPosting({ ...RECEIPT, ...PROVIDER, kind: 'RECOVERY' }), { AWASH: -100n, SUSPENSE: 100n }],
  [
    'an allocation',
    allocationPosting({ ...RECEIPT, kind: 'UNALLOCATED' }, { as: 'ALLOCATED', ...PROVIDER }),
    { SUSPENSE: -100n, AWASH: 100n },
  ],
  [
    'a return of unallocated money',
    allocationPosting({ ...RECEIPT, kind: 'UNALLOCATED' }, { as: 'RETURNED' }),
    { SUSPENSE: -100n, BANK: 100n },
  ],
])('the journal of %s posts to these accounts', (_, { entries }, expected) => {
  const posted = entries.map(({ account, channel, amountSantim }) => [channel ?? account, amountSantim] as const);
  expect(Object.fromEntries(posted)).toEqual(expected);
  expect(posted).toHaveLength(Object.keys(expected).length);
});
