import { expectInvariants } from '../invariants/check.ts';
import { startProgram, type Program } from '../support/program.ts';
import { until } from '../support/until.ts';
import { buy, startChaosService, PHONES, untilQuiet, type ChaosService, type ChaosMerchant } from './service.ts';

/** Concurrent sends of one subscription by a worker: a kill may repeat each of them once. */
const SENDS_IN_FLIGHT = 10;

let service: ChaosService;
let merchant: ChaosMerchant;
let api: Program;
let worker: Program;
let workerKills = 0;

const startBoth = async (): Promise<void> => {
  [api, worker] = await Promise.all([startProgram('api', service.settings), startProgram('worker', service.settings)]);
};
const killBoth = async (): Promise<void> => {
  workerKills += 1;
  await Promise.all([api.kill(), worker.kill()]);
};

beforeAll(async () => {
  service = await startChaosService({ TASK_QUEUES: 'payments,webhooks' });
  await startBoth();
});
beforeEach(async () => {
  merchant = await service.newMerchant({ loseEvery: 4 });
});
afterEach(async () => service.simulator.clearFaults());
afterAll(async () => {
  await killBoth();
  await service.close();
});

const expectConsistent = async (): Promise<void> => {
  await untilQuiet(service);
  await expectInvariants(async () => service.gather({ duplicatesMax: workerKills * SENDS_IN_FLIGHT }));
  for (const { responses } of merchant.client.requests) expect(responses.at(-1)?.status).toBeLessThan(300);
};

describe('the API killed under load', () => {
  const CUSTOMERS = 8;
  const PURCHASES_EACH = 2;
  const TEST_EVENTS_EACH = 2;

  /** Sends one request after another, each repeated until its response is final. */
  async function shop(customer: number): Promise<void> {
    const { client, subscriptionId } = merchant;
    for (let nth = 0; nth < PURCHASES_EACH; nth += 1) {
      const phone = (customer + nth) % 4 === 0 ? PHONES.declined : PHONES.approved;
      await buy(client, { orderNo: `KILLED-${customer}-${nth}`, phone });
      for (let test = 0; test < TEST_EVENTS_EACH; test += 1)
        await client.post(`webhooks/subscriptions/${subscriptionId}/test`);
    }
  }

  test('an API killed under load loses and doubles nothing when clients repeat their requests', async () => {
    const { client } = merchant;
    const answered = (): number => client.requests.filter(({ responses }) => responses.length > 0).length;
    const shopping = Promise.all(Array.from({ length: CUSTOMERS }, (_, customer) => shop(customer)));
    await until('the start of the load', async () => answered() >= 2 * CUSTOMERS);
    await api.kill();
    api = await startProgram('api', service.settings);
    await shopping;
    await expectConsistent();
    const transactions = await service.fixture.db
      .knex()('transaction')
      .where({ merchantId: merchant.scope.merchantId });
    expect(transactions).toHaveLength(CUSTOMERS * PURCHASES_EACH);
  }, 120_000);
});

describe('API and worker killed during payments', () => {
  const PAYMENTS = 6;

  /** Resolves when the client has all responses. */
  const payAll = async (): Promise<unknown> =>
    Promise.all(
      Array.from({ length: PAYMENTS }, async (_, nth) =>
        buy(merchant.client, { orderNo: `ORDER-${nth}`, phone: PHONES.approved }),
      ),
    );

  /** Asserts that each attempt has one order at the provider and is paid, and that no session has a second attempt. */
  async function expectPaidOnce(ordersBefore: number): Promise<void> {
    await expectConsistent();
    const { orders } = await service.simulator.journal();
    const made = new Set(orders.slice(ordersBefore).map(({ attemptId }) => attemptId));
    const attempts = await service.fixture.db.knex()('paymentAttempt').where({ merchantId: merchant.scope.merchantId });
    expect(attempts.map(({ status }) => String(status))).toEqual(Array.from({ length: PAYMENTS }, () => 'SUCCEEDED'));
    expect(made).toEqual(new Set(attempts.map(({ id }) => String(id))));
    expect(orders.length - ordersBefore).toBe(PAYMENTS);
  }

  test('API and worker killed while the provider hangs query the same orders after their restart', async () => {
    const before = (await service.simulator.journal()).orders.length;
    // It accepts the orders and never responds.
    await service.simulator.fault({ kind: 'hangAfter', on: 'initiate', next: PAYMENTS });
    const paying = payAll();
    await until('the provider to have orders', async () => {
      const { orders } = await service.simulator.journal();
      return orders.length > before;
    });
    await killBoth();
    await service.simulator.clearFaults();
    await startBoth();
    await paying;
    await expectPaidOnce(before);
  }, 120_000);

  test('API and worker killed before the callbacks find the payments by polling', async () => {
    const { orders: before } = await service.simulator.journal();
    await service.simulator.fault({ kind: 'callbackLost', next: PAYMENTS });
    const paying = payAll();
    await until('the provider to be paid', async () => {
      const { orders } = await service.simulator.journal();
      return orders.slice(before.length).some(({ paid }) => paid);
    });
    await killBoth();
    await startBoth();
    await paying;
    await expectPaidOnce(before.length);
  }, 120_000);
});
