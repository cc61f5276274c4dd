import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { buildFreeMerchant } from '../support/withdrawals.ts';
import { runCli, startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;
let scope: MerchantScope;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
beforeEach(async () => {
  scope = await buildFreeMerchant(backOffice.fixture);
});
afterAll(() => backOffice.close());

const run = (...args: string[]) => runCli(backOffice, args);
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).text);

test("meskot request sends any request with the operator's key, and is refused as the API refuses it", async () => {
  const { merchantId } = scope;
  const path = `/api/ops/merchants/${merchantId}/channels/TELEBIRR/suspend`;
  const body = JSON.stringify({ environment: 'sandbox', reason: 'Asked for it' });
  const request = (...args: string[]) => run('request', ...args);
  expect(JSON.parse((await request('POST', path, body)).text)).toMatchObject({
    channel: 'TELEBIRR',
    approval: 'SUSPENDED',
  });
  const suspended = [{ action: 'channel.suspend', resourceId: 'TELEBIRR' }];
  expect(await json('audit', 'list', '--merchant-id', merchantId)).toMatchObject(suspended);
  expect(JSON.parse((await request('get', `/api/ops/merchants?search=${merchantId}`)).text)).toMatchObject([
    { merchantId },
  ]);

  expect(
    await runCli(backOffice, ['request', 'POST', path, body], { key: backOffice.people.viewer.key }),
  ).toMatchObject({
    exitCode: 3,
    notes: expect.stringContaining('this one is viewer'),
  });
  expect(await request('POST', path, '{"reson": "x"}')).toMatchObject({
    exitCode: 2,
    notes: expect.stringContaining('reson is not a field of this body'),
  });
  expect((await request('POST', path, '{reason}')).notes).toContain('The body must be JSON');
  expect((await request('GET', path)).notes).toContain('METHOD_NOT_ALLOWED (405)');
  expect(await request('GET', '/metrics')).toMatchObject({
    exitCode: 2,
    notes: expect.stringContaining('must begin with /api/'),
  });
  expect((await request('GET', `/api/ops/settlements/${newId('stl')}`)).exitCode).toBe(4);
  expect(await json('audit', 'list', '--merchant-id', merchantId)).toMatchObject(suspended);
});

test("the bank's file is imported from a file, by its verb and by meskot request", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'meskot-bank-'));
  const file = join(folder, 'bank.csv');
  await writeFile(file, 'settlementId,result,bankReference,date,reason\nstl_none,credited,FT-1,2026-01-02,\n');
  const path = '/api/ops/settlements/bank-file';
  for (const command of [
    ['settlements', 'import-bank-file', file, '--yes', '--json'],
    ['request', 'POST', path, '--file', file],
  ]) {
    const { text, exitCode } = await run(...command);
    expect(exitCode).toBe(0);
    expect(JSON.parse(text)).toMatchObject({ applied: [], wrong: [{ line: 2 }] });
  }
  expect((await run('settlements', 'import-bank-file')).notes).toContain("missing required argument 'file'");
  expect((await run('request', 'POST', path)).notes).toContain('UNSUPPORTED_MEDIA_TYPE (415)');
  expect((await run('request', 'POST', path, '--file', `${file}.none`)).exitCode).toBe(2);
  await rm(folder, { recursive: true });
});
