import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { PROVIDER_FIELDS } from '../../src/providers/settings.ts';
import { readAccounts } from '../../src/sandbox/simulator/accounts.ts';
import { createLiveAccounts } from '../journey/accounts.ts';
import { startTestSimulator } from '../support/simulator.ts';
import { anOrder, connectAdapters } from './sandbox.ts';

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meskot-accounts-'));
  file = join(folder, 'accounts.json');
});
afterAll(() => rm(folder, { recursive: true }));

test('accounts of a file are read, and a wrong file is refused with what is wrong, without its values', async () => {
  const { accounts } = createLiveAccounts('http://127.0.0.1:9');
  await writeFile(file, JSON.stringify(accounts));
  expect(readAccounts(file)).toEqual(accounts);
  expect(() => readAccounts(join(folder, 'none'))).toThrow('SIMULATOR_ACCOUNTS_PATH cannot be read: ENOENT');
  await writeFile(file, '{');
  expect(() => readAccounts(file)).toThrow('SIMULATOR_ACCOUNTS_PATH cannot be read: it is not JSON');
  const { token: _, ...till } = accounts.AWASH;
  await writeFile(file, JSON.stringify({ ...accounts, AWASH: { ...till, hashKey: 7_070 } }));
  expect(() => readAccounts(file)).toThrow(/AWASH\.token: .*\n +AWASH\.hashKey: (?!.*7070)/);
});

test('the example of accounts on the page of settings is of the form that is read', async () => {
  const page = readFileSync(new URL('../../docs/operations/settings.md', import.meta.url), 'utf8');
  const [, example = ''] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];
  await writeFile(file, example);
  expect(readAccounts(file)).toEqual(JSON.parse(example));
  const values = example.matchAll(/"((?:TELEBIRR|CBE_BIRR|AWASH)_[A-Z_]+)"/g);
  const names = [...values].map(([, name = '']) => name);
  expect(names).toHaveLength(12);
  expect(Object.keys(PROVIDER_FIELDS)).toEqual(expect.arrayContaining(names));
});

test.each(['TELEBIRR', 'CBE_BIRR', 'AWASH'] as const)(
  "a simulator with accounts of its own rejects the sandbox's account of %s",
  async (channel) => {
    const { accounts } = createLiveAccounts('http://127.0.0.1:9');
    const simulator = await startTestSimulator({ accounts });
    const adapters = connectAdapters(simulator.url);
    const outcome = await adapters.adapter(channel).initiate(anOrder('http://127.0.0.1:9'));
    // telebirr issues no token at all.
    expect(outcome).toMatchObject(
      channel === 'TELEBIRR'
        ? { kind: 'unknown', message: 'status 401' }
        : { kind: 'declined', failure: { providerCode: 'INVALID_SIGNATURE' } },
    );
    expect((await simulator.journal()).orders).toEqual([]);
    await Promise.all([adapters.close(), simulator.close()]);
  },
);
