import { buy, startChaosService, PHONES, type ChaosService, type ChaosMerchant } from '../chaos/service.ts';
import { startProgram, type Program } from '../support/program.ts';
import { until } from '../support/until.ts';

const MINUTE_MS = 60_000;

/** For Node: every look at the clock in this process is off by so much. */
function clockOff(ms: number): { NODE_OPTIONS: string } {
  const code = `
    const { now } = Date;
    globalThis.Date = class extends Date {
      constructor(...of) { if (of.length > 0) super(...of); else super(now() + ${ms}); }
      static now() { return now() + ${ms}; }
    };`;
  return { NODE_OPTIONS: `--import data:text/javascript;base64,${Buffer.from(code).toString('base64')}` };
}

let service: ChaosService;
let merchant: ChaosMerchant;
const programs: Program[] = [];

beforeAll(async () => {
  service = await startChaosService();
  merchant = await service.newMerchant();
  const api = { ...service.settings, ...clockOff(-60 * MINUTE_MS) };
  const worker = { ...service.settings, ...clockOff(60 * MINUTE_MS) };
  programs.push(...(await Promise.all([startProgram('api', api), startProgram('worker', worker)])));
}, 60_000);
afterAll(async () => {
  for (const program of programs) await program.kill();
  await service.close();
}, 30_000);

const statusOf = async (sessionId: string): Promise<string> =>
  ((await service.fixture.db.knex()('checkoutSession').where({ id: sessionId }).first('status')) as { status: string })
    .status;

describe('an API whose clock is an hour behind, and a worker whose clock is an hour ahead', () => {
  test("keep sessions open for the requested time by the database's clock", async () => {
    const order = { amount: 20, currency: 'ETB', expiresInMinutes: 30 };
    const { sessionId: open } = await merchant.client.post('sessions', { ...order, checkoutOrderNo: 'OPEN' });
    const { sessionId: over } = await merchant.client.post('sessions', { ...order, checkoutOrderNo: 'OVER' });
    const session = service.fixture.db.knex()('checkoutSession');
    const { expiresAt } = (await session.clone().where({ id: open }).first('expiresAt')) as { expiresAt: Date };
    expect(Math.abs(expiresAt.getTime() - Date.now() - 30 * MINUTE_MS)).toBeLessThan(10_000);

    await session.clone().where({ id: over }).update({ expiresAt: new Date() });
    await until('the session is expired', async () => (await statusOf(String(over))) === 'EXPIRED');
    await expect(statusOf(String(open))).resolves.toBe('OPEN');
  }, 30_000);

  test('confirm a payment', async () => {
    const { sessionId } = await buy(merchant.client, { orderNo: 'PAID', phone: PHONES.approved, expiresInMinutes: 30 });
    await until('the payment is confirmed', async () => (await statusOf(sessionId)) === 'COMPLETED');
  }, 30_000);

  test('report the skew as a metric of each process', async () => {
    const text = await (await fetch(programs[0]?.metricsUrl ?? '')).text();
    const [, skew] = /^meskot_clock_skew_seconds\{[^}]*\} (\S+)$/m.exec(text) ?? [];
    expect(Number(skew)).toBeCloseTo(-3_600, -1);
  });
});
