import { DAY_MS } from '../../src/lib/dates.ts';
import { markCredited, markFailed, markSent } from '../../src/settlements/bank-results.ts';
import { addHoliday } from '../../src/settlements/calendar/operations.ts';
import { approveSettlement, rejectSettlement } from '../../src/settlements/decide.ts';
import { enqueueCalendarChanged } from '../../src/settlements/expected-dates.ts';
import { readSettlement } from '../../src/settlements/queries.ts';
import { settlementWorkflowId } from '../../src/settlements/workflow.ts';
import { requestSettlement, linkAccount } from '../support/settlements.ts';
import { skipTime } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { fund } from '../support/withdrawals.ts';
import { moneyOf, untilProgress, type Scene, type Scenes } from './scene.ts';

/** The santim select the sandbox's decision. */
const AMOUNTS = { approved: 100_00n, rejected: 100_13n, waitsForOperator: 100_14n } as const;
/** More than two business days, with any holidays among them. */
const LONG_OVERDUE_MS = 10 * DAY_MS;
const REVIEW = 'wait for an operator to approve or reject it';
const TRANSFER = 'wait for it to be sent to the bank';
const BANK = 'wait for the bank to credit it';

type Requested = { id: string; workflowId: string };

const operator = () => ({ operatorId: 'opr_1', at: new Date() });

/** The ends of settlements. */
export const SETTLEMENT_SCENES: Scenes = {
  'settlement-cancelled': async (scene) => {
    const requested = await request(scene);
    await untilProgress(scene, requested.workflowId, REVIEW);
    await scene.merchant.client.post(`settlement/${requested.id}/cancel`);
    return requested.workflowId;
  },
  // The sandbox approves it, and the bank fails it.
  'settlement-failed': async (scene) => {
    const { fixture } = scene.service;
    const requested = await request(scene, 'approved');
    await untilProgress(scene, requested.workflowId, TRANSFER);
    await fixture.runInTransaction((tx) => markSent(tx, requested.id, operator()));
    await untilProgress(scene, requested.workflowId, BANK);
    const failed = { ...operator(), reason: 'The account is closed.' };
    await fixture.runInTransaction((tx) => markFailed(tx, requested.id, failed));
    return requested.workflowId;
  },
  'settlement-moved': async (scene) => {
    const requested = await request(scene);
    await untilProgress(scene, requested.workflowId, REVIEW);
    await closeLastExpectedDay(scene, requested);
    return credit(scene, requested);
  },
  'settlement-overdue': async (scene) => {
    const { fixture } = scene.service;
    const requested = await request(scene);
    await skipTime(fixture.temporal.client, requested.workflowId, LONG_OVERDUE_MS);
    await until('the settlement to be overdue', async () => (await readSettlement(fixture.db, requested.id)).overdueAt);
    return credit(scene, requested);
  },
  'settlement-rejected': async (scene) => {
    const requested = await request(scene);
    await untilProgress(scene, requested.workflowId, REVIEW);
    const rejected = { ...operator(), reason: 'No.' };
    await scene.service.fixture.runInTransaction((tx) => rejectSettlement(tx, requested.id, rejected));
    return requested.workflowId;
  },
  'settlement-rejected-by-sandbox': async (scene) => (await request(scene, 'rejected')).workflowId,
};

/** Requests a settlement like the API. */
async function request(scene: Scene, amount: keyof typeof AMOUNTS = 'waitsForOperator'): Promise<Requested> {
  const { scope } = scene.merchant;
  const money = moneyOf(scene);
  await fund(money, scope, 1_000_00n);
  await linkAccount(money, scope);
  const { id } = await requestSettlement(money, scope, { amount: AMOUNTS[amount] });
  return { id, workflowId: settlementWorkflowId(id) };
}

/** Approves, sends and credits a settlement; its workflow handles each step. Returns its workflow's id. */
async function credit(scene: Scene, requested: Requested): Promise<string> {
  const { id, workflowId } = requested;
  const { runInTransaction } = scene.service.fixture;
  await runInTransaction((tx) => approveSettlement(tx, id, operator()));
  await untilProgress(scene, workflowId, TRANSFER);
  await runInTransaction((tx) => markSent(tx, id, operator()));
  await untilProgress(scene, workflowId, BANK);
  const creditDetails = { ...operator(), bankReference: `FT-${id}`, creditedAt: new Date() };
  await runInTransaction((tx) => markCredited(tx, id, creditDetails));
  return workflowId;
}

/** Adds a holiday on the last expected day, so that the credit is expected later. */
async function closeLastExpectedDay({ service: { fixture } }: Scene, { id }: Requested): Promise<void> {
  const { expectedUntil } = await readSettlement(fixture.db, id);
  await fixture.runInTransaction(async (tx) => {
    await addHoliday(tx, { date: expectedUntil, name: 'National mourning', kind: 'closed' });
    await enqueueCalendarChanged(tx, { from: expectedUntil, until: expectedUntil });
  });
  await until(
    'the expected days to change',
    async () => (await readSettlement(fixture.db, id)).expectedUntil > expectedUntil,
  );
}
