import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { anyFreePort } from '../../src/lib/ports.ts';
import { openStateFile } from '../../src/sandbox/simulator/order-store.ts';
import { meskot, type Program, startProgram } from '../support/program.ts';
import { controlSimulator, startTestSimulator } from '../support/simulator.ts';
import { aPayout, anOrder, connectAdapters } from './sandbox.ts';

const PUBLIC_URL = 'https://pay.example.et';

let folder: string;
let port: number;
let url: string;
let settings: Record<string, string>;
const programs: Program[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meskot-simulator-'));
  port = await anyFreePort();
  url = `http://127.0.0.1:${port}`;
  settings = {
    MESKOT_MODE: 'production',
    SIMULATOR_PORT: String(port),
    SIMULATOR_ORDERS_PATH: join(folder, 'orders', 'orders.jsonl'),
    SIMULATOR_PUBLIC_URL: ` ${PUBLIC_URL}/\r\n`,
  };
});
afterAll(async () => {
  await Promise.all(programs.map((program) => program.kill()));
  await rm(folder, { recursive: true });
});

async function start(): Promise<Program> {
  const program = await startProgram('simulator', settings);
  programs.push(program);
  return program;
}

/** A request with the Host that a proxy passes on. */
async function send(route: string, headers: Record<string, string>, body = '') {
  const [method = '', path = ''] = route.split(' ');
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, headers }, (answer) => {
      text(answer).then((content) => resolve({ status: answer.statusCode ?? 0, text: content }), reject);
    });
    sent.on('error', reject).end(body);
  });
}

test('a killed simulator has its orders and its clock after its restart, and their payments are decided', async () => {
  const first = await start();
  const adapters = connectAdapters(url, { simulatorPublicUrl: PUBLIC_URL });
  const waiting = anOrder('http://127.0.0.1:1/', { phone: '251911000004' });
  const made = await adapters.adapter('TELEBIRR').initiate(waiting);
  const payout = aPayout('http://127.0.0.1:1/');
  await adapters.adapter('CBE_BIRR').payout(payout);
  const control = controlSimulator(url);
  await control.advance(600_000);
  const before = await control.journal();
  await first.kill();

  await start();
  const after = await control.journal();
  const idsOf = ({ orders, payouts }: typeof before) =>
    [...orders, ...payouts].map(({ orderId, state }) => [orderId, state]);
  expect(idsOf(after)).toEqual(idsOf(before));
  expect(Date.parse(after.now) - Date.now()).toBeGreaterThan(500_000);
  expect(await adapters.adapter('CBE_BIRR').queryPayout(payout.orderId)).toMatchObject({ kind: 'succeeded' });

  // As the proxy of the public address passes them on.
  if (made.kind !== 'accepted' || !made.redirectUrl) throw new Error(`The order was not accepted: ${made.kind}`);
  const { pathname, search } = new URL(made.redirectUrl);
  const host = { host: 'pay.example.et', 'x-forwarded-proto': 'https' };
  const page = await send(`GET ${pathname}${search}`, host);
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('Pay now')]);
  const own = { ...host, origin: PUBLIC_URL, 'content-type': 'application/x-www-form-urlencoded' };
  const path = `/telebirr/payment/web/${made.providerReference}/decision`;
  expect((await send(`POST ${path}`, own, 'decision=pay')).status).toBe(303);
  expect((await send('GET /admin/journal', host)).status).toBe(403);
  await adapters.close();
}, 60_000);

test.each(['/telebirr/payment/v1/token', '/telebirr/payment/v1/merchant/queryOrder', '/cbebirr/query', '/awash/query'])(
  'a call of our service to %s is answered under any name of the simulator',
  async (path) => {
    const simulator = await startTestSimulator();
    const statusFor = async (host: string): Promise<number> => {
      const answer = new Promise<number>((resolve, reject) => {
        const headers = { host, 'content-type': 'application/json' };
        const sent = request(`${simulator.url}${path}`, { method: 'POST', headers }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        sent.on('error', reject).end('{}');
      });
      return answer;
    };
    const expected = await statusFor('localhost');
    expect(expected).not.toBe(403);
    for (const host of ['simulator:4002', 'simulator.meskot.svc.cluster.local:4002', 'sandbox.example.et']) {
      expect([host, await statusFor(host)]).toEqual([host, expected]);
    }
    await simulator.close();
  },
);

test('a file of orders that cannot be written ends the start with the name of the setting', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  const env = { ...process.env, ...settings, SIMULATOR_ORDERS_PATH: join(file, 'orders.jsonl') };
  const ended = new Promise<string>((resolve) => {
    execFile(process.execPath, meskot('simulator'), { env }, (_error, _out, written) => resolve(written));
  });
  expect(await ended).toMatch(/^SIMULATOR_ORDERS_PATH cannot be used: (ENOTDIR|EEXIST)/);
}, 30_000);

test('a file of orders does not grow without end: it is written anew with the last line of each order', async () => {
  const path = join(folder, 'growing.jsonl');
  const file = openStateFile(path, 50);
  for (let line = 0; line < 1_000; line += 1) file.append({ offsetMs: line });
  file.saved.offsetMs = 1_000;
  for (let line = 0; line < 51; line += 1) file.append({ offsetMs: 1_000 });
  expect((await stat(path)).size).toBeLessThan(2_000);
  expect(openStateFile(path).saved).toEqual({ orders: new Map(), offsetMs: 1_000 });
});
