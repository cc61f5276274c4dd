import { DAY_MS } from '../../src/lib/dates.ts';
import { markCredited, markFailed, markSent } from '../../src/settlements/bank-results.ts';
import { addHoliday } from '../../src/settlements/calendar/operations.ts';
import { approveSettlement, rejectSettlement } from '../../src/settlements/decide.ts';
import { enqueueCalendarChanged } from '../../src/settlements/expected-dates.ts';
import { readSettlement } from '../../src/settlements/queries.ts';
import { settlementWorkflowId } from '../../src/settlements/workflow-input.ts';
import { ask as askFor, linkAccount } from '../support/settlements.ts';
import { skipTime } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { fund } from '../support/withdrawals.ts';
import { moneyOf, untilItSays, type Scene, type Scenes } from './scene.ts';

/** By their santim the sandbox decides. */
const AMOUNTS = { approved: 100_00n, rejected: 100_13n, waitsForOperator: 100_14n } as const;
/** More than two business days, whatever holidays are among them. */
const LONG_OVERDUE_MS = 10 * DAY_MS;
const REVIEW = 'wait for an operator to approve or reject it';
const TRANSFER = 'wait for it to be sent to the bank';
const BANK = 'wait for the bank to credit it';

type Asked = { id: string; workflowId: string };

const operator = () => ({ operatorId: 'opr_1', at: new Date() });

/** How settlements end. */
export const SETTLEMENT_SCENES: Scenes = {
  'settlement-cancelled': async (scene) => {
    const asked = await ask(scene);
    await untilItSays(scene, asked.workflowId, REVIEW);
    await scene.merchant.client.post(`settlement/${asked.id}/cancel`);
    return asked.workflowId;
  },
  // The sandbox lets it be sent, and the bank refuses it.
  'settlement-failed': async (scene) => {
    const { world } = scene.ground;
    const asked = await ask(scene, 'approved');
    await untilItSays(scene, asked.workflowId, TRANSFER);
    await world.runInTransaction((tx) => markSent(tx, asked.id, operator()));
    await untilItSays(scene, asked.workflowId, BANK);
    const failed = { ...operator(), reason: 'The account is closed.' };
    await world.runInTransaction((tx) => markFailed(tx, asked.id, failed));
    return asked.workflowId;
  },
  'settlement-moved': async (scene) => {
    const asked = await ask(scene);
    await untilItSays(scene, asked.workflowId, REVIEW);
    await closeItsLastDay(scene, asked);
    return paid(scene, asked);
  },
  'settlement-overdue': async (scene) => {
    const { world } = scene.ground;
    const asked = await ask(scene);
    await skipTime(world.temporal.client, asked.workflowId, LONG_OVERDUE_MS);
    await until('it to be overdue', async () => (await readSettlement(world.db, asked.id)).overdueAt);
    return paid(scene, asked);
  },
  'settlement-rejected': async (scene) => {
    const asked = await ask(scene);
    await untilItSays(scene, asked.workflowId, REVIEW);
    const rejected = { ...operator(), reason: 'No.' };
    await scene.ground.world.runInTransaction((tx) => rejectSettlement(tx, asked.id, rejected));
    return asked.workflowId;
  },
  'settlement-rejected-by-sandbox': async (scene) => (await ask(scene, 'rejected')).workflowId,
};

/** Asked for as the API does it. */
async function ask(scene: Scene, amount: keyof typeof AMOUNTS = 'waitsForOperator'): Promise<Asked> {
  const { scope } = scene.merchant;
  const money = moneyOf(scene);
  await fund(money, scope, 1_000_00n);
  await linkAccount(money, scope);
  const { id } = await askFor(money, scope, { amount: AMOUNTS[amount] });
  return { id, workflowId: settlementWorkflowId(id) };
}

/** Approved, sent and credited, and its workflow sees each. Returns its id. */
async function paid(scene: Scene, asked: Asked): Promise<string> {
  const { id, workflowId } = asked;
  const { runInTransaction } = scene.ground.world;
  await runInTransaction((tx) => approveSettlement(tx, id, operator()));
  await untilItSays(scene, workflowId, TRANSFER);
  await runInTransaction((tx) => markSent(tx, id, operator()));
  await untilItSays(scene, workflowId, BANK);
  const credit = { ...operator(), bankReference: `FT-${id}`, creditedAt: new Date() };
  await runInTransaction((tx) => markCredited(tx, id, credit));
  return workflowId;
}

/** Makes the last day it is expected on a holiday, so that it is expected later. */
async function closeItsLastDay({ ground: { world } }: Scene, { id }: Asked): Promise<void> {
  const { expectedUntil } = await readSettlement(world.db, id);
  await world.runInTransaction(async (tx) => {
    await addHoliday(tx, { date: expectedUntil, name: 'National mourning', kind: 'closed' });
    await enqueueCalendarChanged(tx, { from: expectedUntil, until: expectedUntil });
  });
  await until('its days to move', async () => (await readSettlement(world.db, id)).expectedUntil > expectedUntil);
}
