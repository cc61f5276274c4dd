import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Finding } from '../../src/app/doctor/check.ts';
import { createAuthority, createCertificate, type TestCertificate } from '../support/certificates.ts';
import { meskot } from '../support/program.ts';
import { buildStage, type Report, reportOf, type Stage } from './doctor-stage.ts';

let stage: Stage;
let authority: TestCertificate;
let folder: string;
beforeAll(async () => {
  [stage, authority, folder] = await Promise.all([
    buildStage(),
    createAuthority(),
    mkdtemp(join(tmpdir(), 'meskot-doctor-')),
  ]);
  await writeFile(join(folder, 'authority.pem'), authority.cert);
}, 60_000);
afterAll(async () => {
  await stage.close();
  await rm(folder, { recursive: true, force: true });
}, 30_000);

/** `meskot doctor` as a process of production that trusts the authority: Node reads whom to trust when it starts. */
async function run(settings: Record<string, string>): Promise<Report & { said: string }> {
  const own = {
    MESKOT_MODE: 'production',
    TRUSTED_PROXY_COUNT: '1',
    NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
  };
  const env = { PATH: process.env['PATH'], MESKOT_DATA_DIR: folder, ...stage.settings, ...own, ...settings };
  return new Promise((done) => {
    execFile(process.execPath, meskot('doctor', '--json'), { env }, (error, out, said) => {
      const exitCode = error ? Number(error.code) : 0;
      done({ ...reportOf(exitCode, out), said: out + said });
    });
  });
}

/** The address over TLS. */
const secured = async (target: string, certificate: { days?: number; host?: string } = {}): Promise<string> =>
  (await stage.standIn(target, { certificate: await createCertificate(authority, certificate) })).url;

test('production over TLS is right: exit code 0, and each certificate with the days that are left', async () => {
  const [publicUrl, provider] = [await secured(stage.url), await secured(stage.simulator.url)];
  const { exitCode, findings, warnings, said } = await run({
    PUBLIC_BASE_URL: publicUrl,
    TELEBIRR_BASE_URL: `${provider}/telebirr`,
    TELEBIRR_PAY_PAGE_URL: `${provider}/telebirr/payment/web/paygate`,
    CBE_BIRR_BASE_URL: `${provider}/cbebirr`,
    AWASH_BASE_URL: `${provider}/awash`,
  });
  // localhost is an address of no internet.
  const callbacks = expect.stringMatching(/localhost is not an address of the internet\. Confirm that .* reaches it/);
  expect(warnings).toEqual({
    'TELEBIRR callbacks': callbacks,
    'CBE_BIRR callbacks': callbacks,
    'AWASH callbacks': callbacks,
    mail: expect.stringContaining('No mail server is set'),
  });
  expect([exitCode, findings.filter(({ status }) => status === 'wrong')]).toEqual([0, []]);
  const found = Object.fromEntries(findings.map((one) => [one.name, one.found]));
  expect(found).toMatchObject({
    settings: 'All valid, in production mode.',
    'demo data': 'There is none.',
    'public certificate': expect.stringMatching(/^The TLS certificate of localhost:\d+ is valid for 299 more days\.$/),
    'TELEBIRR service': expect.stringMatching(/^The TLS certificate of localhost:\d+ is valid for 299 more days\.$/),
    'TELEBIRR query': expect.stringContaining(
      `telebirr has issued a token to the app key …${stage.settings['TELEBIRR_APP_KEY']?.slice(-4)}, and answers a signed`,
    ),
  });
  for (const name of [
    'TELEBIRR_APP_SECRET',
    'TELEBIRR_APP_KEY',
    'CBE_BIRR_HASH_KEY',
    'AWASH_TOKEN',
    'API_KEY_PEPPER',
  ]) {
    expect(said).not.toContain(stage.settings[name]);
  }
}, 60_000);

test('certificates that are ended, of another host or about to end are distinguished, with exit code 1', async () => {
  const [ended, elsewhere, ending] = [{ days: -3 }, { host: 'provider.example.et' }, { days: 12 }];
  const { exitCode, wrong, warnings } = await run({
    PUBLIC_BASE_URL: await secured(stage.url, ended),
    TELEBIRR_BASE_URL: `${await secured(stage.simulator.url, ended)}/telebirr`,
    TELEBIRR_PAY_PAGE_URL: 'https://localhost/paygate',
    CBE_BIRR_BASE_URL: `${await secured(stage.simulator.url, elsewhere)}/cbebirr`,
    AWASH_BASE_URL: `${await secured(stage.simulator.url, ending)}/awash`,
    AWASH_CALLBACK_BASE_URL: await secured(stage.url, { days: 5 }),
  });
  expect(exitCode).toBe(1);
  const hasEnded = expect.stringMatching(/^The TLS certificate of localhost:\d+ has expired on \d{4}-\d\d-\d\d\./);
  const rejected = (reason: string) => expect.stringMatching(new RegExp(`is not accepted: ${reason}\\.`));
  expect(wrong).toMatchObject({
    'public certificate': hasEnded,
    'public address': rejected('the certificate has expired'),
    'TELEBIRR service': hasEnded,
    'TELEBIRR query': expect.stringContaining('telebirr does not answer (CERT_HAS_EXPIRED). See "TELEBIRR service"'),
    'CBE_BIRR service': rejected('the certificate is for another host name'),
    'CBE_BIRR query': expect.stringContaining('does not answer (ERR_TLS_CERT_ALTNAME_INVALID)'),
  });
  expect(warnings['AWASH service']).toMatch(/ends in 11 days, on .*\. The server must renew its certificate/);
  expect(warnings['AWASH callbacks']).toMatch(/^The TLS certificate of localhost:\d+ ends in 4 days/);
  const names: Finding['name'][] = Object.keys(wrong);
  expect(names).not.toContain('AWASH query');
}, 60_000);

test('without any setting the exit code is 1, and the missing settings are named', async () => {
  const { exitCode, findings } = await run({ DATABASE_URL: '', TEMPORAL_ADDRESS: '' });
  expect(exitCode).toBe(1);
  expect(findings.map(({ found }) => found)).toEqual(
    expect.arrayContaining([
      expect.stringContaining('DATABASE_URL must be set'),
      expect.stringContaining('TEMPORAL_ADDRESS must be set'),
    ]),
  );
}, 60_000);
