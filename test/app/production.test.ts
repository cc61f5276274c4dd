import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';

import { ABYSSINIA } from '../../src/demo/seed/demo.ts';
import { rejectDemoDataAt } from '../../src/demo/seed/reject-demo-data.ts';
import { createLogger } from '../../src/lib/log.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { createMerchant } from '../../src/merchants/operations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { meskot } from '../support/program.ts';

const log = createLogger('silent', 'test');
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const PRODUCTION = {
  MESKOT_MODE: 'production',
  API_KEY_PEPPER: 'a pepper of our own and not the local one',
  ENCRYPTION_KEYS: `own:${randomBytes(32).toString('base64')}`,
  PUBLIC_BASE_URL: 'https://pay.example.et',
  KYC_DOCUMENTS_DIR: tmpdir(),
  REPORTS_DIR: tmpdir(),
};

/** Runs the real process until it ends by itself: its exit code and output. */
function run(
  command: 'api' | 'worker' | 'simulator',
  settings: Record<string, string>,
): Promise<{ code: unknown; said: string }> {
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    ...settings,
  };
  return new Promise((done) => {
    execFile(process.execPath, meskot(command), { env }, (error, out, err) =>
      done({ code: error?.code ?? 0, said: out + err }),
    );
  });
}

test('production starts without demo data, and while the database is unavailable', async () => {
  await rejectDemoDataAt(database.url, log);
  await rejectDemoDataAt(`postgresql://nobody@127.0.0.1:${await anyFreePort()}/none`, log);
});

test.each(['api', 'worker'] as const)(
  '%s refuses to start in production over demo data',
  async (command) => {
    const { id, name } = { id: ABYSSINIA.scope.merchantId, name: ABYSSINIA.name };
    await database.db.transaction(async (trx) => {
      if (!(await trx.knex()('merchant').where({ id }).first())) await createMerchant(trx, { id, name });
    });
    const { code, said } = await run(command, PRODUCTION);
    expect([code, said]).toEqual([1, expect.stringContaining('refuses to start: the database holds demo data')]);
  },
  30_000,
);

test('api refuses to start in production with the local secrets, and names each', async () => {
  const { code, said } = await run('api', { MESKOT_MODE: 'production', ALLOW_LOOPBACK_WEBHOOKS: 'true' });
  expect(code).toBe(1);
  for (const name of [
    'API_KEY_PEPPER',
    'ENCRYPTION_KEYS',
    'PUBLIC_BASE_URL',
    'KYC_DOCUMENTS_DIR',
    'ALLOW_LOOPBACK_WEBHOOKS',
  ]) {
    expect(said).toContain(`  ${name} must`);
  }
}, 30_000);

test.each([
  ['api', 'LISTEN_HOST'],
  ['worker', 'LISTEN_HOST'],
  ['simulator', 'SIMULATOR_HOST'],
] as const)(
  '%s refuses in local mode to listen on all addresses, in one sentence',
  async (command, name) => {
    const { code, said } = await run(command, { [name]: '0.0.0.0' });
    expect([code, said]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^${name} is "0\\.0\\.0\\.0", but local mode .*\\n$`)),
    ]);
  },
  30_000,
);

test('the image is production by default', async () => {
  const dockerfile = await readFile(resolve(import.meta.dirname, '../../Dockerfile'), 'utf8');
  const [last = ''] = dockerfile.split(/^FROM /m).slice(-1);
  expect(last).toMatch(/^ENV .*\bMESKOT_MODE=production\b/m);
});
