import fc from 'fast-check';

/** A provider's reply about a payment: the requested amount, another amount, or another currency. */
export const PAYMENT_REPLIES = [
  'accepted',
  'pending',
  'unknown',
  'declined',
  'permanentlyDeclined',
  'paid',
  'paidLess',
  'paidMore',
  'paidInDollars',
] as const;
export type PaymentReply = (typeof PAYMENT_REPLIES)[number];

/** A provider's reply about a refund. */
export const REFUND_REPLIES = [
  'accepted',
  'pending',
  'unknown',
  'not-found',
  'declined',
  'paid',
  'paidLess',
  'paidMore',
] as const;
export type RefundReply = (typeof REFUND_REPLIES)[number];

/**
 * A provider's reply about a payout. `reversed`: the requested amount was returned; `reversedPaid`: the posted amount
 * was.
 */
export const PAYOUT_REPLIES = [...REFUND_REPLIES, 'reversed', 'reversedPaid', 'reversedPart'] as const;
export type PayoutReply = (typeof PAYOUT_REPLIES)[number];

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
export type SettlementCommand = (typeof SETTLEMENT_COMMANDS)[number];

/**
 * An action of the merchant, the provider, the bank or an operator. `pick` selects one of the existing items by
 * remainder.
 */
export type Action =
  | { do: 'pay'; santim: number; reply: PaymentReply }
  | { do: 'payAgain'; pick: number }
  | { do: 'query'; pick: number; reply: PaymentReply }
  | { do: 'expire' | 'cancelSession'; pick: number; reply: PaymentReply }
  | { do: 'acceptHeld' | 'returnHeld'; pick: number }
  | { do: 'withdraw'; santim: number }
  | { do: 'withdrawAgain'; pick: number; isOther: boolean }
  | { do: 'approve'; pick: number; operator: Operator }
  | { do: 'reject' | 'cancel' | 'recover'; pick: number }
  | { do: 'check'; pick: number; replies: PayoutReply[]; proof: boolean; queryOnly: boolean }
  | { do: 'resolve'; pick: number; outcome: 'COMPLETED' | 'FAILED'; paid: Paid; operator: Operator }
  | { do: 'requestSettlement'; santim: number | 'all' }
  | { do: 'settlement'; pick: number; command: SettlementCommand }
  | { do: 'refund'; pick: number; santim: number | 'rest'; returnFee: boolean }
  | { do: 'refundAgain'; pick: number; isOther: boolean }
  | { do: 'checkRefund'; pick: number; reply: RefundReply; proof: boolean }
  | { do: 'resolveRefund'; pick: number; outcome: 'COMPLETED' | 'FAILED'; paid: Paid }
  | { do: 'recoverRefund'; pick: number }
  /** Negative if the clock of the next process is behind. */
  | { do: 'pass'; minutes: number }
  | { do: 'suspend' | 'resume' };
type Operator = 'opr_1' | 'opr_2' | 'opr_3';
/** The paid amount that an operator confirms. `reported`: the last amount reported by the provider. */
type Paid = 'unspecified' | 'reported' | 'less' | 'muchMore';

/** `twice`: the call is repeated at once, which must have no effect. */
export type Step = Action & { twice: boolean };

/** Selects the first two items most often. */
const pick = fc.constantFrom(0, 1, 0, 1, 0, 1, 2, 3);
/** Of attempts: the first of all is the funding payment. */
const pickAttempt = fc.constantFrom(1, 2, 1, 2, 1, 2, 3, 0);
const amount = fc.integer({ min: 10_00, max: 400_00 });
const operator = fc.constantFrom<Operator>('opr_1', 'opr_2', 'opr_3');
const paymentReply = fc.constantFrom(...PAYMENT_REPLIES, 'paid', 'paidLess');
const payoutReply = fc.constantFrom(...PAYOUT_REPLIES, 'declined', 'paid', 'paidMore', 'unknown');

const actions = {
  pay: fc.record({ do: fc.constant('pay' as const), santim: amount, reply: paymentReply }),
  payAgain: fc.record({ do: fc.constant('payAgain' as const), pick }),
  query: fc.record({ do: fc.constant('query' as const), pick: pickAttempt, reply: paymentReply }),
  end: fc.record({
    do: fc.constantFrom('expire' as const, 'cancelSession' as const),
    pick: pickAttempt,
    reply: paymentReply,
  }),
  decideHeld: fc.record({ do: fc.constantFrom('acceptHeld' as const, 'returnHeld' as const), pick: pickAttempt }),
  withdraw: fc.record({ do: fc.constant('withdraw' as const), santim: amount }),
  withdrawAgain: fc.record({ do: fc.constant('withdrawAgain' as const), pick, isOther: fc.boolean() }),
  approve: fc.record({ do: fc.constant('approve' as const), pick, operator }),
  stop: fc.record({ do: fc.constantFrom('reject' as const, 'cancel' as const, 'recover' as const), pick }),
  check: fc.record({
    do: fc.constant('check' as const),
    pick,
    replies: fc.array(payoutReply, { minLength: 1, maxLength: 2 }),
    proof: fc.boolean(),
    queryOnly: fc.integer({ min: 0, max: 4 }).map((chance) => chance === 4),
  }),
  resolve: fc.record({
    do: fc.constant('resolve' as const),
    pick,
    outcome: fc.constantFrom('COMPLETED' as const, 'FAILED' as const),
    paid: fc.constantFrom<Paid>('unspecified', 'reported', 'reported', 'less', 'muchMore'),
    operator,
  }),
  requestSettlement: fc.record({
    do: fc.constant('requestSettlement' as const),
    santim: fc.oneof(amount, fc.constant('all' as const)),
  }),
  settlement: fc.record({
    do: fc.constant('settlement' as const),
    pick,
    command: fc.constantFrom(...SETTLEMENT_COMMANDS),
  }),
  refund: fc.record({
    do: fc.constant('refund' as const),
    pick,
    santim: fc.oneof(fc.integer({ min: 1, max: 120_00 }), fc.constant('rest' as const)),
    returnFee: fc.boolean(),
  }),
  refundAgain: fc.record({ do: fc.constant('refundAgain' as const), pick, isOther: fc.boolean() }),
  checkRefund: fc.record({
    do: fc.constant('checkRefund' as const),
    pick,
    reply: fc.constantFrom<RefundReply>(...REFUND_REPLIES, 'declined', 'unknown', 'paid'),
    proof: fc.boolean(),
  }),
  resolveRefund: fc.record({
    do: fc.constant('resolveRefund' as const),
    pick,
    outcome: fc.constantFrom('COMPLETED' as const, 'FAILED' as const),
    paid: fc.constantFrom<Paid>('unspecified', 'reported', 'reported', 'less', 'muchMore'),
  }),
  recoverRefund: fc.record({ do: fc.constant('recoverRefund' as const), pick }),
  pass: fc.record({ do: fc.constant('pass' as const), minutes: fc.constantFrom(31, 61, 61, 1_500, -2) }),
  suspend: fc.record({ do: fc.constantFrom('suspend' as const, 'resume' as const, 'resume' as const) }),
};

/** Random steps after a fixed beginning. */
export type Story = { begin: Action[]; steps: Step[] };

/** Weights make some actions frequent, so that scenarios go deep into the life of a few items. */
function weighted(
  begin: readonly Action[],
  weights: Partial<Record<keyof typeof actions, number>>,
): fc.Arbitrary<Story> {
  const names = Object.keys(actions) as (keyof typeof actions)[];
  const choices = names.map((name) => ({
    weight: weights[name] ?? 1,
    arbitrary: actions[name] as fc.Arbitrary<Action>,
  }));
  const step = fc
    .tuple(fc.oneof(...choices), fc.constantFrom(false, false, true))
    .map(([done, twice]): Step => ({ ...done, twice }));
  const steps = fc.array(step, { minLength: 5, maxLength: 13, size: 'max' });
  return fc.record({ begin: fc.constant([FUNDS, ...begin]), steps });
}

const FUNDS: Action = { do: 'pay', santim: 1_000_00, reply: 'paid' };
/** The second withdrawal needs two operators. */
const TWO_WITHDRAWALS: readonly Action[] = [
  { do: 'withdraw', santim: 100_00 },
  { do: 'approve', pick: 0, operator: 'opr_1' },
  { do: 'withdraw', santim: 620_00 },
  { do: 'approve', pick: 1, operator: 'opr_1' },
  { do: 'approve', pick: 1, operator: 'opr_2' },
];
/** Two attempts of one payment. */
const TWO_ATTEMPTS: readonly Action[] = [
  { do: 'pay', santim: 150_00, reply: 'declined' },
  { do: 'payAgain', pick: 1 },
];
/** Both attempts are paid: the second amount must be returned. */
const PAID_TWICE: readonly Action[] = [
  ...TWO_ATTEMPTS,
  { do: 'query', pick: 1, reply: 'paid' },
  { do: 'query', pick: 2, reply: 'paidLess' },
];
const ONE_SENT: readonly Action[] = [
  { do: 'requestSettlement', santim: 200_00 },
  { do: 'settlement', pick: 0, command: 'approve' },
  { do: 'settlement', pick: 0, command: 'sent' },
];

/** Parts of the payment that gave the funds, with and without its fee. */
const TWO_REFUNDS: readonly Action[] = [
  { do: 'refund', pick: 0, santim: 33_33, returnFee: true },
  { do: 'refund', pick: 0, santim: 120_00, returnFee: false },
];

const MIXED = {
  check: 16,
  query: 8,
  refund: 6,
  checkRefund: 8,
  resolveRefund: 3,
  recoverRefund: 1,
  settlement: 16,
  resolve: 10,
  decideHeld: 4,
  pass: 4,
};
export const anyStory: fc.Arbitrary<Story> = fc.oneof(
  { weight: 3, arbitrary: weighted(TWO_WITHDRAWALS, { check: 40, resolve: 30, pass: 9, stop: 3 }) },
  { weight: 1, arbitrary: weighted(TWO_ATTEMPTS, { query: 40, payAgain: 10, end: 10, decideHeld: 30, pass: 5 }) },
  { weight: 1, arbitrary: weighted(PAID_TWICE, { query: 20, payAgain: 5, end: 5, decideHeld: 40 }) },
  { weight: 1, arbitrary: weighted(ONE_SENT, { settlement: 50, requestSettlement: 4, withdraw: 4 }) },
  {
    weight: 1,
    arbitrary: weighted(TWO_REFUNDS, { refund: 30, checkRefund: 40, resolveRefund: 20, recoverRefund: 6, pass: 8 }),
  },
  { weight: 1, arbitrary: weighted([...TWO_WITHDRAWALS, ...TWO_ATTEMPTS, ...ONE_SENT], MIXED) },
);
