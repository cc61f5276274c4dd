import type { PayoutOutcome } from '../../src/providers/provider.ts';
import { recordRecovery } from '../../src/reconciliation/receipts/record.ts';
import { createWithdrawal } from '../../src/withdrawals/create.ts';
import { readWithdrawal } from '../../src/withdrawals/queries.ts';
import { resolveWithdrawal } from '../../src/withdrawals/resolve.ts';
import { approveWithdrawal, cancelWithdrawal, rejectWithdrawal } from '../../src/withdrawals/review.ts';
import { UNKNOWN_PAYOUT, NOT_THERE, PAID_OUT, REFUSED, TAKEN } from '../support/withdrawals.ts';
import { expectedOf, hearPayout, keeps, mayResolve, resolveOut, takes, type Out } from './money-model.ts';
import { choose } from './money-payments.ts';
import type { Act, Play } from './money-scenarios.ts';
import type { PayoutWord, Step } from './money-steps.ts';

/** What a step does to withdrawals; null for another's step. */
export function planWithdrawal(play: Play, step: Step): Act | null {
  if (step.do === 'withdraw') return withdraw(play, BigInt(step.santim));
  if (!('pick' in step)) return null;
  const out = choose(play.books.outs, step.pick);
  if (!out) return null;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest is not about withdrawals
  switch (step.do) {
    case 'withdrawAgain':
      return withdrawAgain(play, out, step.isOther);
    case 'approve':
      return approve(play, out, step.operator);
    case 'reject':
    case 'cancel':
      return stop(play, out, step.do);
    case 'takeBack':
      return takeBack(play, out);
    case 'check':
      return check(play, out, step);
    case 'resolve':
      return resolve(play, out, step);
    default:
      return null;
  }
}

function ask({ world, scope }: Play, { requestId, amountSantim }: Pick<Out, 'requestId' | 'amountSantim'>) {
  const wanted = {
    requestId,
    amountSantim,
    channel: 'TELEBIRR',
    destination: { kind: 'phone', phone: '251911000001', accountName: 'Abebe Bikila' },
    requestedBy: 'key_test',
  } as const;
  return world.runInTransaction((tx) => createWithdrawal({ ...world, tx }, scope, wanted));
}

function withdraw(play: Play, amountSantim: bigint): Act {
  const { outs } = play.books;
  const wanted = { requestId: `OUT-${outs.length + 1}`, amountSantim };
  let made = { id: '', approvalsNeeded: 0 };
  return {
    may: takes(wanted) <= expectedOf(play.books).available,
    call: async () => {
      const { row, isNew } = await ask(play, wanted);
      made = row;
      return isNew;
    },
    note: () =>
      void outs.push({
        ...wanted,
        id: made.id,
        approvalsNeeded: made.approvalsNeeded,
        status: 'PENDING',
        approvedBy: new Set(),
        sentAt: null,
        paidSantim: amountSantim,
        saidPaid: [],
        saidPaidWhilePending: false,
        contradicted: false,
        resolved: false,
        takenBack: 0n,
        words: new Map(),
      }),
  };
}

/** The same requestId is the same withdrawal, or refused. */
function withdrawAgain(play: Play, out: Out, isOther: boolean): Act {
  const wanted = { ...out, amountSantim: out.amountSantim + (isOther ? 1n : 0n) };
  return { may: false, call: async () => (await ask(play, wanted)).isNew, note: () => {} };
}

const isApproved = ({ approvalsNeeded, approvedBy }: Out): boolean => approvedBy.size >= approvalsNeeded;

function approve(play: Play, out: Out, operatorId: string): Act {
  const at = play.world.clock();
  return {
    may: out.status === 'PENDING' && !isApproved(out) && !play.isSuspended && !out.approvedBy.has(operatorId),
    call: async () => {
      await play.world.runInTransaction((tx) => approveWithdrawal(tx, out.id, { operatorId, at }));
      return true;
    },
    note: () => void out.approvedBy.add(operatorId),
  };
}

/** Only before it was ever sent. */
function stop({ world }: Play, out: Out, word: 'reject' | 'cancel'): Act {
  const at = world.clock();
  return {
    may: out.status === 'PENDING' && out.sentAt === null,
    call: async () => {
      await world.runInTransaction(async (tx) => {
        if (word === 'cancel') return cancelWithdrawal(tx, await readWithdrawal(tx.trx, out.id), at);
        return rejectWithdrawal(tx, out.id, { operatorId: 'opr_1', at, reason: 'No.' });
      });
      return true;
    },
    note: () => void (out.status = word === 'cancel' ? 'CANCELLED' : 'REJECTED'),
  };
}

function takeBack({ world }: Play, out: Out): Act {
  const excess = out.paidSantim - out.amountSantim;
  const back = { withdrawalId: out.id, reference: `BACK-${out.id}`, at: world.clock() };
  return {
    may: out.status === 'SUCCESS' && excess > 0n && out.takenBack === 0n,
    call: () => world.runInTransaction(async (tx) => (await recordRecovery(tx, back)).isNew),
    note: () => void (out.takenBack = excess),
  };
}

function outcomeOf(word: PayoutWord, out: Out): PayoutOutcome {
  const { amountSantim } = out;
  const paid = { ...PAID_OUT, providerReference: `OUT-${out.id}`, amountSantim };
  const back = { ...paid, kind: 'reversed', providerCode: 'REVERSED' } as const;
  switch (word) {
    case 'accepted':
      return TAKEN;
    case 'pending':
      return { kind: 'pending', providerReference: null, providerCode: '0' };
    case 'unknown':
      return UNKNOWN_PAYOUT;
    case 'not-found':
      return NOT_THERE;
    case 'declined':
      return REFUSED;
    case 'paid':
      return paid;
    case 'paidLess':
      return { ...paid, amountSantim: amountSantim - 7n };
    case 'paidMore':
      return { ...paid, amountSantim: amountSantim + 11n };
    case 'reversed':
      return back;
    case 'reversedPaid':
      return { ...back, amountSantim: out.paidSantim };
    case 'reversedPart':
      return { ...back, amountSantim: amountSantim - 100n };
    default:
      return word satisfies never;
  }
}

/** The provider answers so, one after the other, and the last one for ever. A sending is never answered "not found". */
function script(play: Play, out: Out, { says, queryOnly }: Pick<Check, 'says' | 'queryOnly'>): void {
  const { provider, clock } = play.world;
  const answer = (word: PayoutWord) => async (): Promise<PayoutOutcome> => {
    const queried = provider.payoutQueries.at(-1);
    const isSending = queried?.question === 'payout';
    if (isSending) {
      out.sentAt ??= clock();
      const isMeant = queried.orderId === out.id && queried.order?.amountSantim === out.amountSantim;
      const isDue = out.status === 'PENDING' && isApproved(out) && !out.saidPaidWhilePending;
      if (!isMeant || !isDue || play.isSuspended || queryOnly)
        play.wrong.push(`${out.id} was sent as ${queried.orderId}`);
    }
    const said = outcomeOf(isSending && word === 'not-found' ? 'unknown' : word, out);
    play.heard.push({ orderId: out.id, said });
    return said;
  };
  provider.returnsForPayouts(...says.map(answer));
}

type Check = Extract<Step, { do: 'check' }>;

function check(play: Play, out: Out, step: Check): Act {
  const { says, proof, queryOnly } = step;
  const isQueryable = out.status === 'PENDING' || out.status === 'SUCCESS' || (proof && out.status === 'FAILED');
  const isSendable = out.sentAt !== null || (!play.isSuspended && !queryOnly);
  return {
    may: isQueryable && isApproved(out) && isSendable,
    // Of several words the last one is new the second time, and doubt may lead to another sending.
    isFree: says.length > 1 || says[0] === 'not-found',
    call: async () => {
      script(play, out, step);
      const { queried } = await play.checkPayout(out.id, { minIntervalMs: 0, notifyWorkflow: true, proof, queryOnly });
      return queried;
    },
    note: () => {
      // Of "not found" and the answer to the sending after it only the latter counts.
      const last = play.heard.splice(0).at(-1);
      if (last) hearPayout(out, last.said as PayoutOutcome);
    },
  };
}

function paidBy({ amountSantim, saidPaid }: Out, paid: Resolve['paid']): bigint | undefined {
  if (paid === 'said') return saidPaid.at(-1);
  if (paid === 'unsaid') return undefined;
  return paid === 'less' ? amountSantim - 9n : amountSantim + 5_000_00n;
}

type Resolve = Extract<Step, { do: 'resolve' }>;

function resolve(play: Play, out: Out, step: Resolve): Act {
  const { world } = play;
  const { outcome, operator } = step;
  const paidSantim = outcome === 'FAILED' ? undefined : paidBy(out, step.paid);
  const word = { outcome, paidSantim };
  const at = world.clock();
  const said = `${outcome} ${paidSantim}`;
  let missing = 0;
  return {
    may: mayResolve(out, word, at) ? null : false,
    call: () =>
      world.runInTransaction(async (tx) => {
        const resolution = { ...word, providerReference: `REF-${out.id}`, reason: 'They say so', operatorId: operator };
        const resolved = await resolveWithdrawal(tx, out.id, { ...resolution, at });
        ({ missing } = resolved);
        return resolved.isNew;
      }),
    note: () => {
      const voices = out.words.get(said) ?? new Set();
      out.words.set(said, voices.add(operator));
      if (missing > 0) return;
      if (voices.size < out.approvalsNeeded) play.wrong.push(`${out.id} was resolved by ${voices.size}`);
      const paid = { ...out, paidSantim: paidSantim ?? out.paidSantim };
      const lacks =
        out.status === 'FAILED' && outcome === 'COMPLETED' && keeps(paid) > expectedOf(play.books).available;
      if (lacks) play.wrong.push(`${out.id} was paid after all by nobody's money`);
      resolveOut(out, word);
    },
  };
}
