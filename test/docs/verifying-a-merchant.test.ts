import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

import { startTestService, type TestService } from '../tenant-isolation/service.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(resolve(PROJECT, 'docs/operations/verifying-a-merchant.md'), 'utf8');

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
}, 60_000);
afterAll(() => service.close(), 60_000);

/** The section's commands, typed one after the other. */
function commandsOf(section: string): string {
  const [, text = ''] = PAGE.split(`## ${section}\n`);
  return /```sh\n(.*?)```/s.exec(text)?.[1] ?? '';
}

test('the page leads from nothing to a merchant that is verified, has paid in the sandbox, and whose live key works', async () => {
  const { database, config } = service.fixture;
  const script = commandsOf('Trying it on your machine');
  expect(script).toContain('kyc approve');
  const env = {
    ...process.env,
    SARA: await service.newOperatorKey(),
    DAWIT: await service.newOperatorKey(),
    URL: service.api.url,
    MESKOT_URL: service.api.operatorsUrl,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: config.TEMPORAL_ADDRESS,
  };
  const { stdout } = await promisify(execFile)('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: PROJECT, env });

  expect(stdout).toContain('"Application submitted"');
  expect(stdout).toMatch(/"kind": "KYC"/);
  expect(stdout).toMatch(/"status": "APPROVED"/);
  const refused =
    'Live keys work once one payment has succeeded in the sandbox; none has yet: make one with a sandbox key.';
  expect(stdout).toContain(refused);
  expect(stdout).toContain('"Status is SUCCESS"');
  const afterwards = stdout.slice(stdout.indexOf('"Status is SUCCESS"'));
  expect(afterwards).toContain('"Channels retrieved"');
  expect(afterwards).toMatch(/"channel":"TELEBIRR"[^{}]*"approval":"APPROVED"[^{}]*"reason":"NOT_CONFIGURED"/);
}, 300_000);
