import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { rows } from '../../../src/lib/db.ts';
import { deliveryWorkflowId } from '../../../src/webhooks/delivery/workflow.ts';
import { inFixture, type Bench, type Fixture } from '../fixture.ts';
import { pastDeliveries } from '../history.ts';
import { burstRow, measureBurst, type Burst } from '../measure.ts';
import type { NullWorkflowResult } from '../null-workflow/run.ts';
import { median } from '../numbers.ts';
import { release, subjectOfOurs } from '../subjects.ts';

const SUBSCRIPTIONS = 10;
const BURSTS = 3;
const NULL_WORKFLOWS = 400;

/** The cost of a workflow per delivery, compared with none and with an empty workflow. */
export async function every(bench: Bench): Promise<void> {
  await inFixture(bench, (fixture) => measureAll(bench, fixture));
}

async function measureAll(bench: Bench, fixture: Fixture): Promise<void> {
  const { sheet, stack } = bench;
  const count = bench.size(1_000, 100);
  const row = sheet.table(
    `Bursts of ${count} test events to ${SUBSCRIPTIONS} subscriptions, with and without workflows`,
  );
  const { merchantId } = await fixture.newMerchant();
  await fixture.asOwner(pastDeliveries(merchantId), 'VACUUM ANALYZE');
  const ours = await subjectOfOurs(fixture, { api: await fixture.startApi(), count: SUBSCRIPTIONS });
  const inMode = async (mode: 'failed' | 'every'): Promise<number> => {
    const worker = await fixture.startWorker({ WEBHOOK_WORKFLOWS: mode });
    const subject = ours.inMode(mode, worker);
    await measureBurst(stack, subject, count);
    const bursts: Burst[] = [];
    for (let number = 1; number <= BURSTS; number += 1) {
      bench.say(`${subject.name}, burst ${number} of ${BURSTS}`);
      bursts.push(await measureBurst(stack, subject, count));
    }
    await worker.stop();
    row({ who: subject.name, ...burstRow(bursts) });
    return median(bursts.map((burst) => burst.cpu.total));
  };
  try {
    const failed = await inMode('failed');
    const withWorkflows = await inMode('every');
    sheet.measured('history', await countHistoryEvents(fixture));
    bench.say('workflows that do nothing');
    const { perSecond, cpuMs } = await runNullWorkflows(bench);
    const nothing = cpuMs.ours + cpuMs.temporal;
    row({
      who: 'null workflow',
      'delivered/s': perSecond,
      'CPU ms each': nothing,
      worker: cpuMs.ours,
      Temporal: cpuMs.temporal,
    });
    sheet.measured('everyCpu', withWorkflows / (failed + nothing));
  } finally {
    await release(ours);
  }
}

async function countHistoryEvents({ db, workflows }: Fixture): Promise<number> {
  const [delivery] = await rows<{ eventId: string; subscriptionId: string }>(
    db,
    `SELECT event_id, subscription_id FROM webhook_delivery
     WHERE status = 'DELIVERED' AND attempts = 1 AND delivered_at > now() - interval '1 hour' ORDER BY id DESC LIMIT 1`,
  );
  if (!delivery) throw new Error('nothing was delivered at the first try');
  return workflows.historyEvents(deliveryWorkflowId(delivery.eventId, delivery.subscriptionId));
}

async function runNullWorkflows({ stack, size }: Bench): Promise<NullWorkflowResult> {
  const { temporal, folder } = stack;
  const resultFile = join(folder, 'null-workflow.json');
  const read = async () => readFile(resultFile, 'utf8').catch(() => '');
  const count = String(size(NULL_WORKFLOWS, 50));
  const running = await stack.run(
    {
      name: 'null-workflow',
      file: 'test/bench/null-workflow/run.js',
      args: [temporal.address, String(temporal.child.pid), count, resultFile],
    },
    async () => (await read()).endsWith('}'),
  );
  await running.stop();
  return JSON.parse(await read()) as NullWorkflowResult;
}
