import { DAY_MS, HOUR_MS } from '../../src/lib/dates.ts';
import { readWithdrawal } from '../../src/payouts/withdrawals/queries.ts';
import { approveWithdrawal, rejectWithdrawal } from '../../src/payouts/withdrawals/review.ts';
import { withdrawalWorkflowId } from '../../src/payouts/withdrawals/workflow.ts';
import { skipTime } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { fund } from '../support/withdrawals.ts';
import { moneyOf, untilProgress, untilSent, type Scene, type Scenes } from './scene.ts';

const MINUTE_MS = 60_000;
/** Enough for a run that polls every half hour. */
const RUN_HOURS_MAX = 96;
/** Destinations by the behaviour of the sandbox's provider. */
const PHONES = {
  paid: '0911000001',
  declined: '0911000002',
  silent: '0911000004',
  paidUnenqueued: '0911000007',
} as const;
/** The santim select the sandbox's decision. */
const AMOUNTS = { approved: 100, rejected: 100.13, waitsForOperator: 100.14 } as const;

type Options = { phone?: keyof typeof PHONES; amount?: keyof typeof AMOUNTS };

const operator = () => ({ operatorId: 'opr_1', at: new Date(), reason: 'No.' });

/** The ends of withdrawals. */
export const WITHDRAWAL_SCENES: Scenes = {
  'withdrawal-approved': async (scene) => {
    const id = await request(scene, { phone: 'paidUnenqueued' });
    await advance(scene, id, DAY_MS);
    return approve(scene, id);
  },
  // The provider's callback arrives as well.
  'withdrawal-approved-by-sandbox': async (scene) => withdrawalWorkflowId(await request(scene, { amount: 'approved' })),
  'withdrawal-cancelled': async (scene) => {
    const id = await request(scene);
    await untilProgress(scene, withdrawalWorkflowId(id), 'waiting for the sandbox to review it');
    await scene.merchant.client.post(`withdrawal/${id}/cancel`);
    return withdrawalWorkflowId(id);
  },
  // The run that continues as new.
  'withdrawal-continued': async (scene) => {
    const { workflow } = scene.service.fixture.temporal.client;
    const id = await request(scene, { phone: 'silent' });
    const workflowId = await approve(scene, id);
    await until('it to be taken', async () => (await readRow(scene, id)).lastOutcome);
    const runIdNow = async () => (await workflow.getHandle(workflowId).describe()).runId;
    const runId = await runIdNow();
    for (let hours = 0; hours < RUN_HOURS_MAX && (await runIdNow()) === runId; hours += 6) {
      await advance(scene, id, 6 * HOUR_MS);
    }
    return { workflowId, runId };
  },
  'withdrawal-declined': async (scene) => approve(scene, await request(scene, { phone: 'declined' })),
  'withdrawal-rejected': async (scene) => {
    const id = await request(scene);
    await advance(scene, id, DAY_MS);
    await scene.service.fixture.runInTransaction((tx) => rejectWithdrawal(tx, id, operator()));
    return withdrawalWorkflowId(id);
  },
  'withdrawal-rejected-by-sandbox': async (scene) => withdrawalWorkflowId(await request(scene, { amount: 'rejected' })),
  'withdrawal-unknown': async (scene) => {
    const { simulator } = scene.service;
    await simulator.fault({ kind: 'payoutUnknown', channel: 'TELEBIRR', delayMs: 10 * MINUTE_MS, next: 1 });
    const id = await request(scene, { phone: 'paidUnenqueued' });
    const workflowId = await approve(scene, id);
    await until('an unknown outcome', async () => (await readRow(scene, id)).stage === 'UNKNOWN');
    await advance(scene, id, MINUTE_MS);
    await simulator.advance(10 * MINUTE_MS);
    await advance(scene, id, 2 * MINUTE_MS);
    return workflowId;
  },
};

/** Requests a withdrawal over HTTP and returns its id. By default it waits for an operator. */
async function request(scene: Scene, { phone = 'paid', amount = 'waitsForOperator' }: Options = {}): Promise<string> {
  const { scope, client } = scene.merchant;
  await fund(moneyOf(scene), scope, 1_000_00n);
  const created = await client.post('withdrawal', {
    requestId: 'OUT-1',
    amount: AMOUNTS[amount],
    channel: 'TELEBIRR',
    destination: { phone: PHONES[phone], accountName: 'Abebe Bikila' },
  });
  const id = String(created['withdrawalRequestId']);
  await untilSent(scene, withdrawalWorkflowId(id));
  return id;
}

/** Returns its workflow's id. */
async function approve({ service: { fixture } }: Scene, id: string): Promise<string> {
  await fixture.runInTransaction((tx) => approveWithdrawal(tx, id, operator()));
  return withdrawalWorkflowId(id);
}

/** Advances its workflow by this time. */
async function advance({ service: { fixture } }: Scene, id: string, ms: number): Promise<void> {
  await skipTime(fixture.temporal.client, withdrawalWorkflowId(id), ms);
}

const readRow = async ({ service: { fixture } }: Scene, id: string) => readWithdrawal(fixture.db, id);
