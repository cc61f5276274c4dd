import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import { runOps, startDesk, type Desk } from './desk.ts';

let desk: Desk;
let scope: MerchantScope;

beforeAll(async () => {
  desk = await startDesk();
});
beforeEach(async () => {
  scope = await buildFreeMerchant(desk.world);
});
afterAll(() => desk.close());

const run = (...args: string[]) => runOps(desk, args);
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).text);

test('any route of the operators is called by its path, as who acts, and refused as the API refuses it', async () => {
  const { merchantId } = scope;
  const path = `/api/ops/merchants/${merchantId}/channels/TELEBIRR/suspend`;
  const body = JSON.stringify({ environment: 'sandbox', reason: 'Asked for it' });
  const api = (...args: string[]) => run('api', ...args);
  expect(JSON.parse((await api('POST', path, body)).text)).toMatchObject({
    channel: 'TELEBIRR',
    approval: 'SUSPENDED',
  });
  const suspended = [{ action: 'channel.suspend', resourceId: 'TELEBIRR' }];
  expect(await json('audit', '--merchant', merchantId)).toMatchObject(suspended);
  expect(JSON.parse((await api('get', `/api/ops/merchants?search=${merchantId}`)).text)).toMatchObject([
    { merchantId },
  ]);

  const { viewer } = desk.people;
  expect(await api('POST', path, body, '--operator', viewer.operatorId)).toMatchObject({
    exitCode: 3,
    text: expect.stringContaining('this one is viewer'),
  });
  expect(await api('POST', path, '{"reson": "x"}')).toMatchObject({
    exitCode: 2,
    text: expect.stringContaining('reson is not a field of this body'),
  });
  expect((await api('POST', path, '{reason}')).text).toContain('The body must be JSON');
  expect((await api('GET', path)).text).toContain('It takes POST.');
  expect((await api('GET', '/api/checkout/balance')).text).toContain('listed at /docs');
  expect((await api('GET', `/api/ops/settlements/${newId('stl')}`)).exitCode).toBe(4);
  expect(await json('audit', '--merchant', merchantId)).toMatchObject(suspended);
});

test('one thing is shown whole, and a channel is decided about', async () => {
  const { merchantId } = scope;
  await fund(desk.world, scope, 1_000_00n);
  const { id } = await withdraw(desk.world, scope);
  expect(JSON.parse((await run('show', id)).text)).toMatchObject({ withdrawalId: id, merchantId });
  expect((await run('show', 'key_1')).text).toContain('show takes wd_…');
  expect((await run('show', newId('wd'))).exitCode).toBe(4);
  const channel = `${merchantId}/CBE_BIRR`;
  expect((await run('suspend', channel)).text).toContain('reason is required');
  expect(JSON.parse((await run('suspend', channel, '--reason', 'Asked for it')).text)).toMatchObject({ usable: false });
  expect(JSON.parse((await run('approve', channel)).text)).toMatchObject({ approval: 'APPROVED' });
  expect((await run('approve', `${merchantId}/GOLD`)).exitCode).toBe(2);
});

test("the bank's file is read from a file", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'meskot-bank-'));
  const file = join(folder, 'bank.csv');
  await writeFile(file, 'settlementId,result,bankReference,date,reason\nstl_none,credited,FT-1,2026-01-02,\n');
  const { text, exitCode } = await run('api', 'POST', '/api/ops/settlements/bank-file', file);
  expect(exitCode).toBe(0);
  expect(JSON.parse(text)).toMatchObject({ applied: [], wrong: [{ line: 2 }] });
  expect((await run('api', 'POST', '/api/ops/settlements/bank-file')).text).toContain('takes the name of a file');
  expect((await run('api', 'POST', '/api/ops/settlements/bank-file', `${file}.none`)).exitCode).toBe(2);
  await rm(folder, { recursive: true });
});
