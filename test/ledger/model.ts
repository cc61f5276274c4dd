import fc from 'fast-check';

import { feeOf, feeWithin, type FeeRule } from '../../src/ledger/fees.ts';
import {
  suspenseAcceptedPosting,
  suspensePosting,
  suspenseReturnedPosting,
  latePayoutPosting,
  mirrorPosting,
  payoutPosting,
  paymentPosting,
  releasePosting,
  reservePosting,
  reversalPosting,
  totalDebit,
  type Payout,
  type Posting,
  receiptPosting,
  allocationPosting,
  type BankReceipt,
  type AllocationOutcome,
} from '../../src/ledger/postings.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';

/** A step; numbers select one of the existing items, so that any of them is valid. */
export type Step = { do: (typeof AMOUNTS)[number]; santim: number } | { do: (typeof PICKS)[number]; pick: number };

const AMOUNTS = ['pay', 'payWrong', 'withdraw', 'settle', 'transfer', 'unmatched'] as const;
const BANK_PICKS = ['place', 'sendBack', 'correct', 'takeBack'] as const;
const IN_PICKS = ['paySecond', 'acceptHeld', 'returnHeld'] as const;
/** A payout that had failed is reported as paid later by its provider or bank. */
const AFTER_ALL = ['payAfterAll', 'overpayAfterAll', 'underpayAfterAll'] as const;
const OUT_PICKS = ['succeed', 'overpay', 'underpay', 'fail', 'reverse', ...AFTER_ALL] as const;
const PICKS = [...IN_PICKS, ...OUT_PICKS, 'repeat', ...BANK_PICKS] as const;

const santim = fc.oneof(fc.integer({ min: 1, max: 20_000_00 }), fc.integer({ min: 1, max: 1_000 }));

export const anySteps = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom(...AMOUNTS, 'pay', 'withdraw'), santim }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom(...PICKS, ...OUT_PICKS, 'fail'), pick: fc.nat(1_000) }) },
  ),
  { minLength: 1, maxLength: 28, size: 'max' },
);

export const anyRule: fc.Arbitrary<FeeRule> = fc
  .record({
    basisPoints: fc.integer({ min: 0, max: 1_000 }),
    fixedSantim: fc.bigInt(0n, 10_00n),
    taxBasisPoints: fc.integer({ min: 0, max: 2_000 }),
  })
  .map((rule) => ({ ...rule, id: 'fee_1', minSantim: 0n, maxSantim: null, returnedOnRefund: false }));

type Held = { attemptId: string; transactionId: string; amountSantim: bigint };
type PaidOut = { out: Payout; isTakenBack: boolean };
type AtBank = { money: BankReceipt; outcome: AllocationOutcome | null; of?: PaidOut };

/** A model of the ledger of a merchant and its providers, independent of the ledger. */
export type Story = {
  /** The postings, in their order. */
  postings: Posting[];
  /** The postings that the ledger must reject for an insufficient balance. */
  refused: Posting[];
  /** The balance of the provider: payments less payouts, plus reversals, less remittances and returns. */
  providerOwes: bigint;
  open: Payout[];
  failed: Payout[];
  /** Payouts that can be returned: a withdrawal by its provider, a settlement by the bank. */
  paid: PaidOut[];
  /** Transactions with received money. */
  received: string[];
  held: Held[];
  fees: bigint;
  settled: bigint;
  available: bigint;
  /** Receipts at the bank, less returns. */
  arrived: bigint;
  /** Receipts: remittances, recoveries and unallocated money; corrected receipts are excluded. */
  atBank: AtBank[];
  /** Overpayments less recoveries: negative if a recovered payout is also reversed. */
  excess: bigint;
};

/** Unallocated receipts in suspense. */
export function unmatchedOf({ atBank }: Story): bigint {
  const waiting = atBank.filter(({ money, outcome }) => money.kind === 'UNALLOCATED' && outcome === null);
  return waiting.reduce((sum, { money }) => sum + money.amountSantim, 0n);
}

/** The amount paid above the requested one. */
function excessOf(out: Payout): bigint {
  const more = paidOf(out) - out.amountSantim;
  return more > 0n ? more : 0n;
}

/** The amount that the beneficiary received. */
const paidOf = (out: Payout): bigint => (out.type === 'settlement' ? undefined : out.paidSantim) ?? out.amountSantim;

/** The final debit of the balance. */
const costOf = (out: Payout): bigint => totalDebit(out) - out.amountSantim + paidOf(out) - excessOf(out);

/** Sets a paid amount above or below the requested one; settlements are always paid exactly. */
function paidAs(out: Payout, what: (typeof OUT_PICKS)[number]): Payout {
  if (out.type !== 'withdrawal') return out;
  if (what.startsWith('underpay')) return { ...out, paidSantim: out.amountSantim / 2n };
  return what.startsWith('overpay') ? { ...out, paidSantim: out.amountSantim + 7n } : out;
}

/** Runs all steps; a step without an item has no effect. `ids` creates ids. */
export function step(
  steps: readonly Step[],
  enqueued: { scope: MerchantScope; rule: FeeRule; ids: (prefix: string) => string },
): Story {
  const { scope, rule, ids } = enqueued;
  const story: Story = {
    postings: [],
    refused: [],
    providerOwes: 0n,
    open: [],
    failed: [],
    paid: [],
    received: [],
    held: [],
    fees: 0n,
    settled: 0n,
    available: 0n,
    arrived: 0n,
    atBank: [],
    excess: 0n,
  };
  const { environment } = scope;
  const channel = 'TELEBIRR' as const;
  const take = <T>(list: T[], pick: number): T | undefined =>
    list.length === 0 ? undefined : list.splice(pick % list.length, 1)[0];
  const book = (posting: Posting): void => void story.postings.push(posting);

  const hold = (held: Held): void => {
    book(suspensePosting({ ...scope, ...held, channel }));
    story.held.push(held);
    story.providerOwes += held.amountSantim;
  };

  const withAmount = (what: (typeof AMOUNTS)[number], amountSantim: bigint): void => {
    if (what === 'pay') {
      const fee = feeWithin(rule, amountSantim);
      // Late payments have the same posting.
      const transactionId = ids('txn');
      book(paymentPosting({ ...scope, ...fee, transactionId, channel, amountSantim }));
      story.received.push(transactionId);
      story.providerOwes += amountSantim;
      story.fees += fee.feeSantim + fee.feeTaxSantim;
      story.available += amountSantim - fee.feeSantim - fee.feeTaxSantim;
    } else if (what === 'payWrong') {
      hold({ attemptId: ids('pat'), transactionId: ids('txn'), amountSantim });
    } else if (what === 'transfer' || what === 'unmatched') {
      const base = { id: ids('rcp'), environment, amountSantim };
      const money: BankReceipt =
        what === 'transfer' ? { ...base, kind: 'REMITTANCE', channel } : { ...base, kind: 'UNALLOCATED' };
      book(receiptPosting(money));
      if (what === 'transfer') story.providerOwes -= amountSantim;
      story.arrived += amountSantim;
      story.atBank.push({ money, outcome: null });
    } else {
      const base = { ...scope, ...feeOf(rule, amountSantim), amountSantim };
      const out: Payout =
        what === 'withdraw'
          ? { ...base, type: 'withdrawal', id: ids('wd'), channel }
          : { ...base, type: 'settlement', id: ids('stl') };
      if (totalDebit(out) > story.available) return void story.refused.push(reservePosting(out));
      book(reservePosting(out));
      story.available -= totalDebit(out);
      story.open.push(out);
    }
  };

  const withBankPick = (what: (typeof BANK_PICKS)[number], pick: number): void => {
    if (what === 'takeBack') {
      const paid = story.paid[pick % Math.max(story.paid.length, 1)];
      if (!paid || paid.isTakenBack || excessOf(paid.out) === 0n) return;
      const amountSantim = excessOf(paid.out);
      const money: BankReceipt = { id: ids('rcp'), environment, amountSantim, kind: 'RECOVERY', channel };
      book(receiptPosting(money));
      paid.isTakenBack = true;
      story.atBank.push({ money, outcome: null, of: paid });
      story.providerOwes += amountSantim;
      story.excess -= amountSantim;
      return;
    }
    const at = take(story.atBank, pick);
    if (!at) return;
    const { money, outcome } = at;
    const { amountSantim } = money;
    if (what === 'correct') {
      if (outcome) book(mirrorPosting(allocationPosting(money, outcome)));
      book(mirrorPosting(receiptPosting(money)));
      if (at.of) {
        at.of.isTakenBack = false;
        story.providerOwes -= amountSantim;
        return void (story.excess += amountSantim);
      }
      if (money.kind === 'REMITTANCE' || outcome?.as === 'ALLOCATED') story.providerOwes += amountSantim;
      if (outcome?.as !== 'RETURNED') story.arrived -= amountSantim;
      return;
    }
    if (money.kind !== 'UNALLOCATED' || outcome) return void story.atBank.push(at);
    const end: AllocationOutcome = what === 'place' ? { as: 'ALLOCATED', channel } : { as: 'RETURNED' };
    book(allocationPosting(money, end));
    if (what === 'place') story.providerOwes -= amountSantim;
    else story.arrived -= amountSantim;
    story.atBank.push({ money, outcome: end });
  };

  const withHeld = (what: (typeof IN_PICKS)[number], pick: number): void => {
    if (what === 'paySecond') {
      const transactionId = story.received[pick % Math.max(story.received.length, 1)];
      if (transactionId) hold({ attemptId: ids('pat'), transactionId, amountSantim: BigInt(pick + 1) });
      return;
    }
    const held = take(story.held, pick);
    if (!held) return;
    const about = { ...scope, ...held, channel };
    if (what === 'returnHeld') {
      story.providerOwes -= held.amountSantim;
      return book(suspenseReturnedPosting(about));
    }
    const fee = feeWithin(rule, held.amountSantim);
    story.fees += fee.feeSantim + fee.feeTaxSantim;
    story.available += held.amountSantim - fee.feeSantim - fee.feeTaxSantim;
    book(suspenseAcceptedPosting({ ...about, ...fee }));
  };

  /** A payout leaves (1n) or returns (-1n). */
  const leave = (out: Payout, sign: 1n | -1n): void => {
    story.fees += sign * (out.feeSantim + out.feeTaxSantim);
    story.excess += sign * excessOf(out);
    if (out.type === 'settlement') story.settled += sign * out.amountSantim;
    else story.providerOwes -= sign * paidOf(out);
  };

  const withOut = (what: (typeof OUT_PICKS)[number], pick: number): void => {
    if (what === 'reverse') {
      const out = take(story.paid, pick)?.out;
      if (!out) return;
      book(reversalPosting(out));
      story.available += costOf(out);
      return leave(out, -1n);
    }
    const isAfterAll = isOneOf(AFTER_ALL, what);
    const out = take(isAfterAll ? story.failed : story.open, pick);
    if (!out) return;
    if (what === 'fail') {
      book(releasePosting(out));
      story.available += totalDebit(out);
      return void story.failed.push(out);
    }
    const paid = paidAs(out, what);
    const costs = isAfterAll ? costOf(paid) : costOf(paid) - totalDebit(paid);
    const posting = isAfterAll ? latePayoutPosting(paid) : payoutPosting(paid);
    if (costs > story.available) return void story.refused.push(posting);
    book(posting);
    story.available -= costs;
    leave(paid, 1n);
    story.paid.push({ out: paid, isTakenBack: false });
  };

  const withPick = (what: (typeof PICKS)[number], pick: number): void => {
    if (isOneOf(BANK_PICKS, what)) return withBankPick(what, pick);
    if (isOneOf(IN_PICKS, what)) return withHeld(what, pick);
    if (isOneOf(OUT_PICKS, what)) return withOut(what, pick);
    const again = story.postings[pick % Math.max(story.postings.length, 1)];
    if (again) book(again);
  };

  for (const step of steps) {
    if ('santim' in step) withAmount(step.do, BigInt(step.santim));
    else withPick(step.do, step.pick);
  }
  return story;
}

function isOneOf<T extends string>(list: readonly T[], what: string): what is T {
  return (list as readonly string[]).includes(what);
}

/** Balances by account after each key is posted once: the reference for the ledger's balances. */
export function bookAll(postings: readonly Posting[]): Map<string, bigint> {
  const balances = new Map<string, bigint>();
  const keys = new Set<string>();
  for (const { key, entries } of postings) {
    if (keys.has(key)) continue;
    keys.add(key);
    for (const { account, amountSantim } of entries) {
      balances.set(account, (balances.get(account) ?? 0n) + amountSantim);
    }
  }
  return balances;
}
