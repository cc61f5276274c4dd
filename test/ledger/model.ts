import fc from 'fast-check';

import {
  bankMoneyCorrectedFact,
  bankMoneyFact,
  unmatchedEndedFact,
  type BankMoney,
  type UnmatchedOutcome,
} from '../../src/ledger/bank-facts.ts';
import {
  heldAcceptedFact,
  heldFact,
  heldReturnedFact,
  paidOutFact,
  paymentFact,
  releasedFact,
  reservedFact,
  reversedFact,
  totalDebit,
  type MoneyOut,
  type Posting,
} from '../../src/ledger/facts.ts';
import { feeOf, feeWithin, type FeeRule } from '../../src/ledger/fees.ts';
import type { Owner } from '../../src/lib/owner.ts';

/** What may happen next; numbers pick among what is there, so that any of them makes sense. */
export type Step = { do: (typeof AMOUNTS)[number]; santim: number } | { do: (typeof PICKS)[number]; pick: number };

const AMOUNTS = ['pay', 'payWrong', 'withdraw', 'settle', 'transfer', 'unmatched'] as const;
const BANK_PICKS = ['place', 'sendBack', 'correct', 'takeBack'] as const;
const PICKS = ['acceptHeld', 'returnHeld', 'succeed', 'overpay', 'fail', 'reverse', 'repeat', ...BANK_PICKS] as const;

export const anySteps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constantFrom(...AMOUNTS), santim: fc.integer({ min: 1, max: 20_000_00 }) }),
    fc.record({ do: fc.constantFrom(...PICKS), pick: fc.nat(1_000) }),
  ),
  { minLength: 1, maxLength: 25 },
);

export const anyRule: fc.Arbitrary<FeeRule> = fc
  .record({
    basisPoints: fc.integer({ min: 0, max: 1_000 }),
    fixedSantim: fc.bigInt(0n, 10_00n),
    taxBasisPoints: fc.integer({ min: 0, max: 2_000 }),
  })
  .map((rule) => ({ ...rule, id: 'fee_1', minSantim: 0n, maxSantim: null }));

type Withdrawn = MoneyOut & { type: 'withdrawal' };
type Held = { attemptId: string; amountSantim: bigint };
type AtBank = { money: BankMoney; outcome: UnmatchedOutcome | null };

/** A merchant's and its providers' story, told beside the ledger: what the ledger must come to. */
export type Story = {
  /** What was booked, in its order. */
  postings: Posting[];
  /** What the ledger must refuse for want of money. */
  refused: Posting[];
  /** By the provider's own count: taken in, less paid out, plus come back, less handed over and given back. */
  providerOwes: bigint;
  open: MoneyOut[];
  /** Withdrawals only: settlements do not come back. */
  paid: Withdrawn[];
  held: Held[];
  fees: bigint;
  settled: bigint;
  available: bigint;
  /** Come to the bank by hand, less what went back. */
  arrived: bigint;
  /** By hand as well: transfers, and unmatched money whether it waits or not; what was corrected is none of it. */
  atBank: AtBank[];
  /** Paid too much and not taken back. */
  excess: bigint;
};

/** What waits in suspense of what came to the bank. */
export function unmatchedOf({ atBank }: Story): bigint {
  const waiting = atBank.filter(({ money, outcome }) => money.kind === 'UNMATCHED' && outcome === null);
  return waiting.reduce((sum, { money }) => sum + money.amountSantim, 0n);
}

/** How much more than its amount was paid. */
const excessOf = (out: Withdrawn): bigint => (out.paidSantim ?? out.amountSantim) - out.amountSantim;

/** Tells a whole story, step by step; a step for which there is nothing does nothing. `ids` makes ids. */
export function tell(
  steps: readonly Step[],
  told: { owner: Owner; rule: FeeRule; ids: (prefix: string) => string },
): Story {
  const { owner, rule, ids } = told;
  const story: Story = {
    postings: [],
    refused: [],
    providerOwes: 0n,
    open: [],
    paid: [],
    held: [],
    fees: 0n,
    settled: 0n,
    available: 0n,
    arrived: 0n,
    atBank: [],
    excess: 0n,
  };
  const { environment } = owner;
  const channel = 'TELEBIRR' as const;
  const take = <T>(list: T[], pick: number): T | undefined =>
    list.length === 0 ? undefined : list.splice(pick % list.length, 1)[0];
  const book = (posting: Posting): void => void story.postings.push(posting);

  const withAmount = (what: (typeof AMOUNTS)[number], amountSantim: bigint): void => {
    if (what === 'pay') {
      const fee = feeWithin(rule, amountSantim);
      book(paymentFact({ ...owner, ...fee, transactionId: ids('txn'), channel, amountSantim }));
      story.providerOwes += amountSantim;
      story.fees += fee.feeSantim + fee.feeTaxSantim;
      story.available += amountSantim - fee.feeSantim - fee.feeTaxSantim;
    } else if (what === 'payWrong') {
      const held = { attemptId: ids('pat'), amountSantim };
      book(heldFact({ ...owner, ...held, transactionId: held.attemptId, channel }));
      story.held.push(held);
      story.providerOwes += amountSantim;
    } else if (what === 'transfer' || what === 'unmatched') {
      const base = { id: ids('bkm'), environment, amountSantim };
      const money: BankMoney =
        what === 'transfer' ? { ...base, kind: 'TRANSFER', channel } : { ...base, kind: 'UNMATCHED' };
      book(bankMoneyFact(money));
      if (what === 'transfer') story.providerOwes -= amountSantim;
      story.arrived += amountSantim;
      story.atBank.push({ money, outcome: null });
    } else {
      const base = { ...owner, ...feeOf(rule, amountSantim), amountSantim };
      const out: MoneyOut =
        what === 'withdraw'
          ? { ...base, type: 'withdrawal', id: ids('wd'), channel }
          : { ...base, type: 'settlement', id: ids('stl') };
      if (totalDebit(out) > story.available) return void story.refused.push(reservedFact(out));
      book(reservedFact(out));
      story.available -= totalDebit(out);
      story.open.push(out);
    }
  };

  const withBankPick = (what: (typeof BANK_PICKS)[number], pick: number): void => {
    if (what === 'takeBack') {
      const out = take(story.paid, pick);
      if (!out || excessOf(out) <= 0n) return;
      const amountSantim = excessOf(out);
      book(bankMoneyFact({ id: ids('bkm'), environment, amountSantim, kind: 'EXCESS', channel }));
      story.providerOwes += amountSantim;
      story.excess -= amountSantim;
      return;
    }
    const at = take(story.atBank, pick);
    if (!at) return;
    const { money, outcome } = at;
    const { amountSantim } = money;
    if (what === 'correct') {
      book(bankMoneyCorrectedFact(money, outcome));
      if (money.kind === 'TRANSFER' || outcome?.as === 'PLACED') story.providerOwes += amountSantim;
      if (outcome?.as !== 'RETURNED') story.arrived -= amountSantim;
      return;
    }
    if (money.kind !== 'UNMATCHED' || outcome) return void story.atBank.push(at);
    const end: UnmatchedOutcome = what === 'place' ? { as: 'PLACED', channel } : { as: 'RETURNED' };
    book(unmatchedEndedFact(money, end));
    if (what === 'place') story.providerOwes -= amountSantim;
    else story.arrived -= amountSantim;
    story.atBank.push({ money, outcome: end });
  };

  const withPick = (what: (typeof PICKS)[number], pick: number): void => {
    if (isBankPick(what)) return withBankPick(what, pick);
    if (what === 'repeat') {
      const again = story.postings[pick % Math.max(story.postings.length, 1)];
      if (again) book(again);
    } else if (what === 'acceptHeld' || what === 'returnHeld') {
      const held = take(story.held, pick);
      if (!held) return;
      const about = { ...owner, ...held, transactionId: held.attemptId, channel };
      if (what === 'returnHeld') {
        story.providerOwes -= held.amountSantim;
        return book(heldReturnedFact(about));
      }
      const fee = feeWithin(rule, held.amountSantim);
      story.fees += fee.feeSantim + fee.feeTaxSantim;
      story.available += held.amountSantim - fee.feeSantim - fee.feeTaxSantim;
      book(heldAcceptedFact({ ...about, ...fee }));
    } else if (what === 'reverse') {
      const out = take(story.paid, pick);
      if (!out) return;
      book(reversedFact(out));
      story.available += totalDebit(out);
      story.fees -= out.feeSantim + out.feeTaxSantim;
      story.providerOwes += out.paidSantim ?? out.amountSantim;
      story.excess -= excessOf(out);
    } else {
      const out = take(story.open, pick);
      if (!out) return;
      if (what === 'fail') {
        book(releasedFact(out));
        story.available += totalDebit(out);
        return;
      }
      const paid =
        what === 'overpay' && out.type === 'withdrawal' ? { ...out, paidSantim: out.amountSantim + 7n } : out;
      book(paidOutFact(paid));
      story.fees += out.feeSantim + out.feeTaxSantim;
      if (paid.type === 'settlement') {
        story.settled += paid.amountSantim;
        return;
      }
      story.providerOwes -= paid.paidSantim ?? paid.amountSantim;
      story.excess += excessOf(paid);
      story.paid.push(paid);
    }
  };

  for (const step of steps) {
    if ('santim' in step) withAmount(step.do, BigInt(step.santim));
    else withPick(step.do, step.pick);
  }
  return story;
}

function isBankPick(what: (typeof PICKS)[number]): what is (typeof BANK_PICKS)[number] {
  return (BANK_PICKS as readonly string[]).includes(what);
}

/** Balances by account, once each key is booked: the ledger in a few lines, to compare the real one with. */
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
