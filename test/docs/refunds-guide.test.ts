import { readFileSync } from 'node:fs';

import { returned, useRefundFixture } from '../payouts/refunds/fixture.ts';

const GUIDE = readFileSync(new URL('../../docs/guides/refunds.md', import.meta.url), 'utf8');

const own = useRefundFixture();

/** Sends what the guide's commands would send, in their order. */
async function sendSamples() {
  const samples = [...GUIDE.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, command = '']) => command);
  const answers = [];
  for (const command of samples) {
    const path = /pay\.example\.et(\S+)/.exec(command)?.[1]?.replace('txn_…', own.transactionId) ?? '';
    const body = /-d '(.*)'$/m.exec(command)?.[1];
    answers.push(await own.send(body ? 'POST' : 'GET', path, body ? JSON.parse(body) : undefined));
  }
  return answers;
}

test("the guide's commands request a refund and read it", async () => {
  const [requested, read] = await sendSamples();
  expect([requested?.status, read?.status]).toEqual([202, 200]);
  expect(read?.body.data).toMatchObject({ refundId: requested?.body.data.refundId, amount: 40, status: 'PENDING' });
  await own.report(requested?.body.data.refundId, returned(40_00n));
  expect(await own.read('RETURN-1')).toMatchObject({ status: 'SUCCESS' });
});
