import type { UnitOfWork } from '../../src/outbox/record.ts';
import {
  bookLateCredit,
  dismissLateCredit,
  markCredited,
  markFailed,
  markReturned,
  markSent,
} from '../../src/settlements/bank-results.ts';
import { createSettlement } from '../../src/settlements/create.ts';
import { approveSettlement, cancelSettlement, rejectSettlement } from '../../src/settlements/decide.ts';
import type { TransitionResult } from '../../src/settlements/transition.ts';
import { expectedOf, type ModelSettlement } from './money-model.ts';
import { choose } from './money-payments.ts';
import type { PlannedCall, Scenario } from './money-scenarios.ts';
import type { SettlementCommand, Step } from './money-steps.ts';

/** The platform's minimum settlement. */
const MINIMUM = 10_00n;

/** The calls for steps of settlements; null for other steps. */
export function planSettlement(scenario: Scenario, step: Step): PlannedCall | null {
  if (step.do === 'requestSettlement')
    return requestSettlement(scenario, step.santim === 'all' ? 'all' : BigInt(step.santim));
  if (step.do !== 'settlement') return null;
  const settlement = choose(scenario.books.settlements, step.pick);
  return settlement ? transition(scenario, settlement, step.command) : null;
}

function requestSettlement(scenario: Scenario, amount: bigint | 'all'): PlannedCall {
  const { fixture, scope, books } = scenario;
  const { available } = expectedOf(books);
  const wanted = amount === 'all' ? available : amount;
  const queried = { requestId: `SETTLE-${books.settlements.length + 1}`, amount, requestedBy: 'key_test' };
  let id = '';
  return {
    mustChange: wanted <= available && wanted >= MINIMUM,
    call: () =>
      fixture.runInTransaction(async (tx) => {
        const { row, isNew } = await createSettlement({ tx, clock: fixture.clock }, scope, queried);
        ({ id } = row);
        return isNew;
      }),
    record: () => {
      books.settlements.push({ id, amountSantim: wanted, status: 'REQUESTED', late: null, returned: false });
    },
  };
}

/** The status after the command; null if it must not change. */
function nextStatus(
  settlement: ModelSettlement,
  command: SettlementCommand,
  scenario: Scenario,
): ModelSettlement['status'] | null {
  const { status } = settlement;
  const { available } = expectedOf(scenario.books);
  switch (command) {
    case 'approve':
      return status === 'REQUESTED' && !scenario.isSuspended ? 'APPROVED' : null;
    case 'reject':
      return status === 'REQUESTED' ? 'REJECTED' : null;
    case 'cancel':
      return status === 'REQUESTED' ? 'CANCELLED' : null;
    case 'sent':
      return status === 'APPROVED' && !scenario.isSuspended ? 'PROCESSING' : null;
    case 'credited':
    case 'creditedAgain':
      return status === 'PROCESSING' ? 'COMPLETED' : null;
    case 'failed':
      return status === 'APPROVED' || status === 'PROCESSING' ? 'FAILED' : null;
    case 'returned':
      return status === 'COMPLETED' ? 'FAILED' : null;
    case 'book':
      return settlement.late === 'open' && !settlement.returned && available >= settlement.amountSantim
        ? 'COMPLETED'
        : null;
    case 'dismiss':
      return settlement.late === 'open' ? 'FAILED' : null;
    default:
      return command satisfies never;
  }
}

function transition(scenario: Scenario, settlement: ModelSettlement, command: SettlementCommand): PlannedCall {
  const to = nextStatus(settlement, command, scenario);
  const isCredit = command === 'credited' || command === 'creditedAgain';
  // A credit after a failure is recorded only, unless it was reported before.
  const mayBeLate = isCredit && settlement.status === 'FAILED';
  return {
    mustChange: mayBeLate ? null : to !== null,
    call: async () =>
      (await scenario.fixture.runInTransaction((tx) => execute(scenario, tx, { id: settlement.id, command }))).changed,
    record: () => {
      if (mayBeLate) settlement.late = 'open';
      else if (to !== null) settlement.status = to;
      if (command === 'book' || command === 'dismiss') settlement.late = 'closed';
      if (command === 'returned') settlement.returned = true;
    },
  };
}

function execute(
  { fixture }: Scenario,
  tx: UnitOfWork,
  { id, command }: { id: string; command: SettlementCommand },
): Promise<TransitionResult> {
  const at = fixture.clock();
  const by = { operatorId: 'opr_1', at };
  switch (command) {
    case 'approve':
      return approveSettlement(tx, id, by);
    case 'reject':
      return rejectSettlement(tx, id, { ...by, reason: 'No.' });
    case 'cancel':
      return cancelSettlement(tx, { id }, { actor: 'key_test', at });
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
      return command satisfies never;
  }
}
