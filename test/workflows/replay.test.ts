import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Worker } from '@temporalio/worker';

import { recordHistories } from '../histories/record.ts';
import { testStack } from '../support/stack-facts.ts';
import { quietenTemporal } from '../support/temporal.ts';

type Saved = { workflowId: string; result: string; history: unknown };

const FOLDER = join(import.meta.dirname, '../histories');
let code: string;
let saved: Map<string, Saved>;

beforeAll(async () => {
  const record = process.env['RECORD_HISTORIES'];
  if (record === undefined) quietenTemporal();
  else await recordHistories((name) => record === 'yes' || record.split(',').some((begin) => name.startsWith(begin)));
  const { workflowBundlePath } = testStack();
  if (workflowBundlePath === undefined) throw new Error('there are no workflows to replay');
  code = await readFile(workflowBundlePath, 'utf8');
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.json'));
  const texts = await Promise.all(names.map(async (name) => readFile(join(FOLDER, name), 'utf8')));
  saved = new Map(texts.map((text, index) => [names[index] ?? '', JSON.parse(text) as Saved]));
}, 300_000);

/** Replays the histories: null for each that the current code follows, else the name of its error. */
async function replay(histories: Iterable<Saved>): Promise<(string | null)[]> {
  const outcomes: (string | null)[] = [];
  for await (const { error } of Worker.runReplayHistories({ workflowBundle: { code } }, [...histories])) {
    outcomes.push(error?.name ?? null);
  }
  return outcomes;
}

test('the current workflows replay every saved history', async () => {
  expect([...saved].map(([name, { result }]) => `${name}: ${result}`)).toEqual([
    'delivery-cancelled.json: CANCELLED',
    'delivery-first-try.json: DELIVERED',
    'delivery-parked-resent.json: DELIVERED',
    'due-reports.json: 0',
    'payment-by-callback.json: SUCCEEDED',
    'payment-expired.json: ABANDONED',
    'reconciliation-asked-again.json: CLEAN',
    'reconciliation-given-up.json: INCOMPLETE',
    'reconciliation-second-try.json: CLEAN',
    'refund-confirmed.json: SUCCESS',
    'refund-failed.json: FAILED',
    'refund-slow.json: SUCCESS',
    'report-given-up.json: FAILED',
    'report-ready.json: READY',
    'resend-job-cancelled.json: CANCELLED',
    'resend-job-done.json: DONE',
    'settlement-cancelled.json: CANCELLED',
    'settlement-failed.json: FAILED',
    'settlement-moved.json: COMPLETED',
    'settlement-overdue.json: COMPLETED',
    'settlement-rejected-by-sandbox.json: REJECTED',
    'settlement-rejected.json: REJECTED',
    'withdrawal-approved-by-sandbox.json: SUCCESS',
    'withdrawal-approved.json: SUCCESS',
    'withdrawal-cancelled.json: CANCELLED',
    'withdrawal-continued.json: CONTINUED_AS_NEW',
    'withdrawal-declined.json: FAILED',
    'withdrawal-rejected-by-sandbox.json: REJECTED',
    'withdrawal-rejected.json: REJECTED',
    'withdrawal-unknown.json: SUCCESS',
  ]);
  expect(await replay(saved.values())).toEqual([...saved].map(() => null));
});

test('a history that the code cannot replay fails the test', async () => {
  const other: Readonly<Record<string, string>> = {
    dueReports: 'payment',
    payment: 'webhookDelivery',
    reconciliation: 'payment',
    refund: 'payment',
    report: 'payment',
    resendJob: 'payment',
    webhookDelivery: 'payment',
    settlement: 'payment',
    withdrawal: 'payment',
  };
  const histories = [...saved.values()].map((one) => {
    const text = JSON.stringify(one).replace(
      /"name":"(dueReports|payment|reconciliation|refund|report|resendJob|webhookDelivery|settlement|withdrawal)"/,
      (_, name: string) => `"name":"${other[name]}"`,
    );
    return JSON.parse(text) as Saved;
  });
  const outcomes = await replay(histories);
  expect(outcomes).toHaveLength(saved.size);
  expect(outcomes).not.toContain(null);
});
