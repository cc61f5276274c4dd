import type { Change } from '../../src/lib/outbox.ts';
import { markCredited, markFailed, markReturned, markSent } from '../../src/settlements/bank-answer.ts';
import { createSettlement } from '../../src/settlements/create.ts';
import { approveSettlement, cancelSettlement, rejectSettlement } from '../../src/settlements/decide.ts';
import { bookLateCredit, dismissLateCredit } from '../../src/settlements/late-credit.ts';
import type { Moved } from '../../src/settlements/move.ts';
import { expectedOf, type Settled } from './money-model.ts';
import { choose } from './money-payments.ts';
import type { Act, Play } from './money-play.ts';
import type { SettlementDeed, Step } from './money-steps.ts';

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
  const { world, owner, books } = play;
  const { available } = expectedOf(books);
  const wanted = amount === 'all' ? available : amount;
  const asked = { requestId: `SETTLE-${books.settlements.length + 1}`, amount, requestedBy: 'key_test' };
  let id = '';
  return {
    may: wanted <= available && wanted >= LEAST,
    call: () =>
      world.runChange(async (change) => {
        const { row, isNew } = await createSettlement({ change, clock: world.clock }, owner, asked);
        ({ id } = row);
        return isNew;
      }),
    note: () => {
      books.settlements.push({ id, amountSantim: wanted, status: 'REQUESTED', late: null, returned: false });
    },
  };
}

/** Where it goes from where it stands; null: it must not move. */
function whither(settled: Settled, what: SettlementDeed, play: Play): Settled['status'] | null {
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

function move(play: Play, settled: Settled, what: SettlementDeed): Act {
  const to = whither(settled, what, play);
  const isCredit = what === 'credited' || what === 'creditedAgain';
  // What was credited after a failure is only noted, unless it was heard of before.
  const mayBeLate = isCredit && settled.status === 'FAILED';
  return {
    may: mayBeLate ? null : to !== null,
    call: async () => (await play.world.runChange((change) => doIt(play, change, { id: settled.id, what }))).changed,
    note: () => {
      if (mayBeLate) settled.late = 'waits';
      else if (to !== null) settled.status = to;
      if (what === 'book' || what === 'dismiss') settled.late = 'over';
      if (what === 'returned') settled.returned = true;
    },
  };
}

function doIt({ world }: Play, change: Change, { id, what }: { id: string; what: SettlementDeed }): Promise<Moved> {
  const at = world.clock();
  const by = { operatorId: 'opr_1', at };
  switch (what) {
    case 'approve':
      return approveSettlement(change, id, by);
    case 'reject':
      return rejectSettlement(change, id, { ...by, reason: 'No.' });
    case 'cancel':
      return cancelSettlement(change, { id }, { keyId: 'key_test', at });
    case 'sent':
      return markSent(change, id, by);
    case 'credited':
      return markCredited(change, id, { ...by, bankReference: `FT-${id}`, creditedAt: at });
    case 'creditedAgain':
      return markCredited(change, id, { ...by, bankReference: `FT2-${id}`, creditedAt: at });
    case 'failed':
      return markFailed(change, id, { ...by, reason: 'Closed.' });
    case 'returned':
      return markReturned(change, id, { ...by, reason: 'Dormant.', bankReference: `R-${id}` });
    case 'book':
      return bookLateCredit(change, id, by);
    case 'dismiss':
      return dismissLateCredit(change, id, { ...by, reason: 'None.' });
    default:
      return what satisfies never;
  }
}
