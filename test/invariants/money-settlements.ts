import type { UnitOfWork } from '../../src/outbox/record.ts';
import { markCredited, markFailed, markReturned, markSent } from '../../src/settlements/bank-results.ts';
import { createSettlement } from '../../src/settlements/create.ts';
import { approveSettlement, cancelSettlement, rejectSettlement } from '../../src/settlements/decide.ts';
import { bookLateCredit, dismissLateCredit } from '../../src/settlements/late-credit.ts';
import type { TransitionResult } from '../../src/settlements/transition.ts';
import { expectedOf, type RecheckResult } from './money-model.ts';
import { choose } from './money-payments.ts';
import type { Act, Play } from './money-scenarios.ts';
import type { SettlementActionName, Step } from './money-steps.ts';

/** The platform's least settlement. */
const LEAST = 10_00n;

/** What a step does to settlements; null for another's step. */
export function planSettlement(play: Play, step: Step): Act | null {
  if (step.do === 'settle') return settle(play, step.santim === 'all' ? 'all' : BigInt(step.santim));
  if (step.do !== 'settlement') return null;
  const settled = choose(play.books.settlements, step.pick);
  return settled ? move(play, settled, step.what) : null;
}

function settle(play: Play, amount: bigint | 'all'): Act {
  const { world, scope, books } = play;
  const { available } = expectedOf(books);
  const wanted = amount === 'all' ? available : amount;
  const queried = { requestId: `SETTLE-${books.settlements.length + 1}`, amount, requestedBy: 'key_test' };
  let id = '';
  return {
    may: wanted <= available && wanted >= LEAST,
    call: () =>
      world.runInTransaction(async (tx) => {
        const { row, isNew } = await createSettlement({ tx, clock: world.clock }, scope, queried);
        ({ id } = row);
        return isNew;
      }),
    note: () => {
      books.settlements.push({ id, amountSantim: wanted, status: 'REQUESTED', late: null, returned: false });
    },
  };
}

/** Where it goes from where it stands; null: it must not move. */
function whither(settled: RecheckResult, what: SettlementActionName, play: Play): RecheckResult['status'] | null {
  const { status } = settled;
  const { available } = expectedOf(play.books);
  switch (what) {
    case 'approve':
      return status === 'REQUESTED' && !play.isSuspended ? 'APPROVED' : null;
    case 'reject':
      return status === 'REQUESTED' ? 'REJECTED' : null;
    case 'cancel':
      return status === 'REQUESTED' ? 'CANCELLED' : null;
    case 'sent':
      return status === 'APPROVED' && !play.isSuspended ? 'PROCESSING' : null;
    case 'credited':
    case 'creditedAgain':
      return status === 'PROCESSING' ? 'COMPLETED' : null;
    case 'failed':
      return status === 'APPROVED' || status === 'PROCESSING' ? 'FAILED' : null;
    case 'returned':
      return status === 'COMPLETED' ? 'FAILED' : null;
    case 'book':
      return settled.late === 'waits' && !settled.returned && available >= settled.amountSantim ? 'COMPLETED' : null;
    case 'dismiss':
      return settled.late === 'waits' ? 'FAILED' : null;
    default:
      return what satisfies never;
  }
}

function move(play: Play, settled: RecheckResult, what: SettlementActionName): Act {
  const to = whither(settled, what, play);
  const isCredit = what === 'credited' || what === 'creditedAgain';
  // What was credited after a failure is only noted, unless it was heard of before.
  const mayBeLate = isCredit && settled.status === 'FAILED';
  return {
    may: mayBeLate ? null : to !== null,
    call: async () => (await play.world.runInTransaction((tx) => doIt(play, tx, { id: settled.id, what }))).changed,
    note: () => {
      if (mayBeLate) settled.late = 'waits';
      else if (to !== null) settled.status = to;
      if (what === 'book' || what === 'dismiss') settled.late = 'over';
      if (what === 'returned') settled.returned = true;
    },
  };
}

function doIt(
  { world }: Play,
  tx: UnitOfWork,
  { id, what }: { id: string; what: SettlementActionName },
): Promise<TransitionResult> {
  const at = world.clock();
  const by = { operatorId: 'opr_1', at };
  switch (what) {
    case 'approve':
      return approveSettlement(tx, id, by);
    case 'reject':
      return rejectSettlement(tx, id, { ...by, reason: 'No.' });
    case 'cancel':
      return cancelSettlement(tx, { id }, { keyId: 'key_test', at });
    case 'sent':
      return markSent(tx, id, by);
    case 'credited':
      return markCredited(tx, id, { ...by, bankReference: `FT-${id}`, creditedAt: at });
    case 'creditedAgain':
      return markCredited(tx, id, { ...by, bankReference: `FT2-${id}`, creditedAt: at });
    case 'failed':
      return markFailed(tx, id, { ...by, reason: 'Closed.' });
    case 'returned':
      return markReturned(tx, id, { ...by, reason: 'Dormant.', bankReference: `R-${id}` });
    case 'book':
      return bookLateCredit(tx, id, by);
    case 'dismiss':
      return dismissLateCredit(tx, id, { ...by, reason: 'None.' });
    default:
      return what satisfies never;
  }
}
