import fc from 'fast-check';

/** What a provider says of a payment: of the amount asked for, or of another one, or in another currency. */
export const PAYMENT_WORDS = [
  'accepted',
  'pending',
  'unknown',
  'refused',
  'asNonRetryable',
  'paid',
  'paidLess',
  'paidMore',
  'paidInDollars',
] as const;
export type PaymentWord = (typeof PAYMENT_WORDS)[number];

/** And of a payout. `reversed`: what it was told to pay came back; `reversedPaid`: what it is booked to have paid. */
export const PAYOUT_WORDS = [
  'accepted',
  'pending',
  'unknown',
  'not-found',
  'declined',
  'paid',
  'paidLess',
  'paidMore',
  'reversed',
  'reversedPaid',
  'reversedPart',
] as const;
export type PayoutWord = (typeof PAYOUT_WORDS)[number];

export const SETTLEMENT_COMMANDS = [
  'approve',
  'reject',
  'cancel',
  'sent',
  'credited',
  'creditedAgain',
  'failed',
  'returned',
  'book',
  'dismiss',
] as const;
export type SettlementActionName = (typeof SETTLEMENT_COMMANDS)[number];

/** One thing that somebody does. `pick` says to which of those there are, so that any of them makes sense. */
export type AuditContext =
  | { do: 'pay'; santim: number; says: PaymentWord }
  | { do: 'payAgain'; pick: number }
  | { do: 'hear'; pick: number; says: PaymentWord }
  | { do: 'expire' | 'cancelSession'; pick: number; says: PaymentWord }
  | { do: 'acceptHeld' | 'returnHeld'; pick: number }
  | { do: 'withdraw'; santim: number }
  | { do: 'withdrawAgain'; pick: number; isOther: boolean }
  | { do: 'approve'; pick: number; operator: Operator }
  | { do: 'reject' | 'cancel' | 'takeBack'; pick: number }
  | { do: 'check'; pick: number; says: PayoutWord[]; proof: boolean; queryOnly: boolean }
  | { do: 'resolve'; pick: number; outcome: 'COMPLETED' | 'FAILED'; paid: Paid; operator: Operator }
  | { do: 'settle'; santim: number | 'all' }
  | { do: 'settlement'; pick: number; what: SettlementActionName }
  /** Below zero: the clock of the next process is behind. */
  | { do: 'pass'; minutes: number }
  | { do: 'suspend' | 'resume' };
type Operator = 'opr_1' | 'opr_2' | 'opr_3';
/** That the beneficiary was paid, in words of the amount. `said`: what the provider has said last. */
type Paid = 'unsaid' | 'said' | 'less' | 'muchMore';

/** `twice`: said or done once more at once, which must change nothing. */
export type Step = AuditContext & { twice: boolean };

/** Most of the first two of a kind. */
const pick = fc.constantFrom(0, 1, 0, 1, 0, 1, 2, 3);
/** Of tries: the first of all has brought everybody's funds. */
const pickTry = fc.constantFrom(1, 2, 1, 2, 1, 2, 3, 0);
const amount = fc.integer({ min: 10_00, max: 400_00 });
const operator = fc.constantFrom<Operator>('opr_1', 'opr_2', 'opr_3');
const paymentWord = fc.constantFrom(...PAYMENT_WORDS, 'paid', 'paidLess');
const payoutWord = fc.constantFrom(...PAYOUT_WORDS, 'declined', 'paid', 'paidMore', 'unknown');

const context = {
  pay: fc.record({ do: fc.constant('pay' as const), santim: amount, says: paymentWord }),
  payAgain: fc.record({ do: fc.constant('payAgain' as const), pick }),
  hear: fc.record({ do: fc.constant('hear' as const), pick: pickTry, says: paymentWord }),
  end: fc.record({
    do: fc.constantFrom('expire' as const, 'cancelSession' as const),
    pick: pickTry,
    says: paymentWord,
  }),
  decideHeld: fc.record({ do: fc.constantFrom('acceptHeld' as const, 'returnHeld' as const), pick: pickTry }),
  withdraw: fc.record({ do: fc.constant('withdraw' as const), santim: amount }),
  withdrawAgain: fc.record({ do: fc.constant('withdrawAgain' as const), pick, isOther: fc.boolean() }),
  approve: fc.record({ do: fc.constant('approve' as const), pick, operator }),
  stop: fc.record({ do: fc.constantFrom('reject' as const, 'cancel' as const, 'takeBack' as const), pick }),
  check: fc.record({
    do: fc.constant('check' as const),
    pick,
    says: fc.array(payoutWord, { minLength: 1, maxLength: 2 }),
    proof: fc.boolean(),
    queryOnly: fc.integer({ min: 0, max: 4 }).map((chance) => chance === 4),
  }),
  resolve: fc.record({
    do: fc.constant('resolve' as const),
    pick,
    outcome: fc.constantFrom('COMPLETED' as const, 'FAILED' as const),
    paid: fc.constantFrom<Paid>('unsaid', 'said', 'said', 'less', 'muchMore'),
    operator,
  }),
  settle: fc.record({ do: fc.constant('settle' as const), santim: fc.oneof(amount, fc.constant('all' as const)) }),
  settlement: fc.record({
    do: fc.constant('settlement' as const),
    pick,
    what: fc.constantFrom(...SETTLEMENT_COMMANDS),
  }),
  pass: fc.record({ do: fc.constant('pass' as const), minutes: fc.constantFrom(31, 61, 61, 1_500, -2) }),
  suspend: fc.record({ do: fc.constantFrom('suspend' as const, 'resume' as const, 'resume' as const) }),
};

/** What happens after a beginning that is known to work. */
export type Story = { begin: AuditContext[]; steps: Step[] };

/** More of some deeds than of others, so that stories go deep enough into the lives of a few things. */
function mostly(
  begin: readonly AuditContext[],
  weights: Partial<Record<keyof typeof context, number>>,
): fc.Arbitrary<Story> {
  const names = Object.keys(context) as (keyof typeof context)[];
  const choices = names.map((name) => ({
    weight: weights[name] ?? 1,
    arbitrary: context[name] as fc.Arbitrary<AuditContext>,
  }));
  const step = fc
    .tuple(fc.oneof(...choices), fc.constantFrom(false, false, true))
    .map(([done, twice]): Step => ({ ...done, twice }));
  const steps = fc.array(step, { minLength: 5, maxLength: 13, size: 'max' });
  return fc.record({ begin: fc.constant([FUNDS, ...begin]), steps });
}

const FUNDS: AuditContext = { do: 'pay', santim: 1_000_00, says: 'paid' };
/** The second needs two operators. */
const TWO_WITHDRAWALS: readonly AuditContext[] = [
  { do: 'withdraw', santim: 100_00 },
  { do: 'approve', pick: 0, operator: 'opr_1' },
  { do: 'withdraw', santim: 620_00 },
  { do: 'approve', pick: 1, operator: 'opr_1' },
  { do: 'approve', pick: 1, operator: 'opr_2' },
];
/** Two tries of one payment. */
const TWO_TRIES: readonly AuditContext[] = [
  { do: 'pay', santim: 150_00, says: 'refused' },
  { do: 'payAgain', pick: 1 },
];
/** Both paid: the second one's money is to go back. */
const PAID_TWICE: readonly AuditContext[] = [
  ...TWO_TRIES,
  { do: 'hear', pick: 1, says: 'paid' },
  { do: 'hear', pick: 2, says: 'paidLess' },
];
const ONE_SENT: readonly AuditContext[] = [
  { do: 'settle', santim: 200_00 },
  { do: 'settlement', pick: 0, what: 'approve' },
  { do: 'settlement', pick: 0, what: 'sent' },
];

const MIXED = { check: 16, hear: 8, settlement: 16, resolve: 10, decideHeld: 4, pass: 4 };
export const anyStory: fc.Arbitrary<Story> = fc.oneof(
  { weight: 3, arbitrary: mostly(TWO_WITHDRAWALS, { check: 40, resolve: 30, pass: 9, stop: 3 }) },
  { weight: 1, arbitrary: mostly(TWO_TRIES, { hear: 40, payAgain: 10, end: 10, decideHeld: 30, pass: 5 }) },
  { weight: 1, arbitrary: mostly(PAID_TWICE, { hear: 20, payAgain: 5, end: 5, decideHeld: 40 }) },
  { weight: 1, arbitrary: mostly(ONE_SENT, { settlement: 50, settle: 4, withdraw: 4 }) },
  { weight: 1, arbitrary: mostly([...TWO_WITHDRAWALS, ...TWO_TRIES, ...ONE_SENT], MIXED) },
);
