import { expectInvariants } from '../invariants/check.ts';
import { startProgram, type Program } from '../support/program.ts';
import { until } from '../support/worker.ts';
import { buy, createGround, PHONES, untilQuiet, type Ground, type GroundMerchant } from './ground.ts';

const KILLS = 2;
const CUSTOMERS = 8;
const PURCHASES_EACH = 2;
const TEST_EVENTS_EACH = 2;

let ground: Ground;
let merchant: GroundMerchant;
let api: Program;
let worker: Program;

beforeAll(async () => {
  ground = await createGround();
  merchant = await ground.newMerchant({ loseEvery: 4 });
  [api, worker] = await Promise.all([startProgram('api', ground.settings), startProgram('worker', ground.settings)]);
});
afterAll(async () => {
  await Promise.all([api.kill(), worker.kill()]);
  await ground.close();
});

/** One after another, every request repeated until it is answered. */
async function shop(customer: number): Promise<void> {
  const { client, subscriptionId } = merchant;
  for (let nth = 0; nth < PURCHASES_EACH; nth += 1) {
    const phone = (customer + nth) % 4 === 0 ? PHONES.declined : PHONES.approved;
    await buy(client, { orderNo: `KILLED-${customer}-${nth}`, phone });
    for (let test = 0; test < TEST_EVENTS_EACH; test += 1)
      await client.post(`webhooks/subscriptions/${subscriptionId}/test`);
  }
}

const answered = (): number => merchant.client.asked.filter(({ answers }) => answers.length > 0).length;

test('an API killed under load loses and doubles nothing of what clients repeat', async () => {
  const shopping = Promise.all(Array.from({ length: CUSTOMERS }, (_, customer) => shop(customer)));
  for (let kill = 0; kill < KILLS; kill += 1) {
    const target = answered() + 12;
    await until('the load to go on', async () => answered() >= target);
    await api.kill();
    api = await startProgram('api', ground.settings);
  }
  await shopping;
  expect(merchant.client.repeats()).toBeGreaterThanOrEqual(KILLS);
  await untilQuiet(ground);
  await expectInvariants(ground.gather);

  const { asked } = merchant.client;
  expect(asked.every(({ answers }) => (answers.at(-1)?.status ?? 500) < 300)).toBe(true);
  const sessions = asked.filter(({ path }) => path === 'sessions');
  expect(await ground.world.db('transaction')).toHaveLength(sessions.length);
}, 120_000);
