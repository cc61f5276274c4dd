import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

import { paymentWorkflowId } from '../../src/transactions/workflow-input.ts';
import { buy, createGround, PHONES, type Ground, type GroundMerchant } from '../faults/ground.ts';
import { skipTime } from '../support/temporal.ts';
import { readDelivery, until } from '../support/worker.ts';

const RETRY_SECONDS = [60, 300, 1_800, 7_200, 43_200];
const SESSION_MINUTES = 5;
/** The slow phone approves after two minutes. */
const SLOWLY_MS = 121_000;

type Scene = { ground: Ground; merchant: GroundMerchant };

/** One for each workflow and way it ends; each returns the id of a workflow that has ended. */
const SCENES: Readonly<Record<string, (scene: Scene) => Promise<string>>> = {
  'delivery-first-try': async (scene) => deliver(scene),
  'delivery-parked-resent': async (scene) => {
    const { world } = scene.ground;
    scene.merchant.receiver.behave({ kind: 'answer', status: 500 });
    const workflowId = await deliver(scene, RETRY_SECONDS);
    scene.merchant.receiver.behave({ kind: 'answer', status: 200 });
    await world.temporal.client.workflow.getHandle(workflowId).executeUpdate('resend', { args: [null] });
    return workflowId;
  },
  'payment-by-callback': async (scene) => {
    const workflowId = await pay(scene, PHONES.slow);
    await scene.ground.simulator.advance(SLOWLY_MS);
    return workflowId;
  },
  'payment-expired': async (scene) => {
    const workflowId = await pay(scene, PHONES.silent);
    await scene.ground.simulator.advance(SESSION_MINUTES * 60_000);
    await skipTime(scene.ground.world.temporal.client, workflowId, (SESSION_MINUTES + 1) * 60_000);
    return workflowId;
  },
};

/** Lives through every scene on the test servers and writes its history beside this file, over the one before. */
export async function recordHistories(): Promise<void> {
  const ground = await createGround({ WEBHOOK_SENDS_PER_SUBSCRIPTION_MAX: '1' });
  const api = await ground.startApi();
  try {
    await ground.world.startWorker().ready;
    for (const [name, play] of Object.entries(SCENES)) {
      const workflowId = await play({ ground, merchant: await ground.newMerchant() });
      const handle = ground.world.temporal.client.workflow.getHandle(workflowId);
      const result: unknown = await handle.result();
      const history = JSON.parse(historyToJSON(await handle.fetchHistory())) as object;
      const text = JSON.stringify({ workflowId, result, history: withoutPlaces(history) }, null, 2);
      await writeFile(join(import.meta.dirname, `${name}.json`), `${text}\n`);
    }
  } finally {
    await api.stop();
    await ground.close();
  }
}

/** Records an event and lives through these waits between its attempts. */
async function deliver({ ground, merchant }: Scene, waitsSeconds: readonly number[] = []): Promise<string> {
  const { world } = ground;
  const eventId = await world.record(merchant.owner);
  const attempts = async (count: number) =>
    until(`attempt ${count}`, async () => {
      const delivery = await readDelivery(world.db, eventId);
      return delivery.attempts === count && delivery.status !== 'PENDING' && delivery;
    });
  for (const [index, seconds] of waitsSeconds.entries()) {
    const { workflowId } = await attempts(index + 1);
    await skipTime(world.temporal.client, workflowId, seconds * 1_050 + 1_000);
  }
  return (await attempts(waitsSeconds.length + 1)).workflowId;
}

/** Pays a session, until its workflow has asked the provider and waits. */
async function pay({ ground, merchant }: Scene, phone: string): Promise<string> {
  const { attemptId } = await buy(merchant.client, { orderNo: 'ORDER-1', phone, expiresInMinutes: SESSION_MINUTES });
  const workflowId = paymentWorkflowId(attemptId);
  const handle = ground.world.temporal.client.workflow.getHandle(workflowId);
  await until('the workflow to wait', async () => {
    const { events } = await handle.fetchHistory().catch(() => ({ events: [] }));
    return events?.some((event) => event.timerStartedEventAttributes);
  });
  return workflowId;
}

/** Which machine and process it was is nobody's business, and would differ each time. */
function withoutPlaces(history: object): object {
  const text = JSON.stringify(history, (name, value: unknown) => {
    if (name === 'identity' || name === 'stackTrace' || name === 'workerVersion') return undefined;
    return typeof value === 'string' && PLACE.test(value) ? 'a-place' : value;
  });
  return JSON.parse(text) as object;
}

/** `1234@host`, also as the name of a worker's own queue. */
const PLACE = /^\d+@/;
