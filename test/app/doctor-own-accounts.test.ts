import { randomBytes } from 'node:crypto';

import { readConfig } from '../../src/config.ts';
import { addisDay, DAY_MS } from '../../src/lib/dates.ts';
import { sealCredentials } from '../../src/providers/credentials/values.ts';
import { buildStage, type Stage } from './doctor-stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await buildStage();
}, 60_000);
afterAll(() => stage.close(), 30_000);

const examine = (changes: Record<string, string | undefined>) => stage.examine(changes, { channel: ['AWASH'] });
afterEach(() => stage.database.asOwner('DELETE FROM provider_credential; DELETE FROM merchant_channel'));

/** A merchant that is approved for Awash, and its own account there, which is the platform's with these changes. */
async function own(id: string, changes: { token?: string; endsInDays?: number } = {}): Promise<void> {
  const of = (name: string): string => stage.settings[`AWASH_${name}`] ?? '';
  const till = {
    companyName: of('COMPANY_NAME'),
    tillCode: of('TILL_CODE'),
    token: of('TOKEN'),
    hashKey: of('HASH_KEY'),
  };
  const values = { payIn: { ...till, ...(changes.token && { token: changes.token }) }, payOut: null };
  const sealed = sealCredentials(readConfig(stage.settings).keyRing, id, values).toString('hex');
  await approve(`mrc_${id}`);
  await stage.database.asOwner(`
    INSERT INTO provider_credential (id, merchant_id, channel, credentials, account, identifiers, created_by, confirmed_by,
      active_from, expires_at, created_at)
    VALUES ('${id}', 'mrc_${id}', 'AWASH', '\\x${sealed}', '77', '{}', 'opr_a', 'opr_b', now() - interval '1 hour',
      now() + interval '${changes.endsInDays ?? 90} days', now() - interval '1 day')`);
}
const approve = (merchantId: string) =>
  stage.database.asOwner(`
    INSERT INTO merchant (id, name) VALUES ('${merchantId}', 'Own account') ON CONFLICT DO NOTHING;
    INSERT INTO merchant_channel (merchant_id, environment, channel, approval) VALUES ('${merchantId}', 'live', 'AWASH', 'APPROVED')`);

test('each account is checked with the provider, and the first one that it refuses is named', async () => {
  for (const id of ['pcr_1', 'pcr_2', 'pcr_3', 'pcr_4', 'pcr_5']) await own(id);
  const { findings } = await examine({});
  expect(findings).toContainEqual(
    expect.objectContaining({ name: 'AWASH own accounts', found: '5 of merchants can be used.', status: 'ok' }),
  );
  await own('pcr_6', { token: 'planted-token' });
  const { exitCode, wrong } = await examine({});
  expect([exitCode, wrong]).toEqual([
    1,
    {
      'AWASH own accounts': expect.stringMatching(
        /^1 of 6 cannot be used, the first is pcr_6: Awash rejects a signed query \(\w+\)\. Compare credentials\.token, /,
      ),
    },
  ]);
  const hanging = await stage.serve(() => {});
  const silent = await examine({ AWASH_BASE_URL: hanging.url, AWASH_TIMEOUT_MS: '500' });
  expect(silent.wrong['AWASH own accounts']).toMatch(/^6 of 6 .* Awash does not answer \(no response in time\)\. See/);
  expect((await stage.examine({}, { channel: ['CBE_BIRR'] })).findings.map(({ name }) => name)).not.toContain(
    'AWASH own accounts',
  );
  expect(stage.printed()).not.toContain('planted-token');
}, 60_000);

test('accounts that end are a warning, and wrong if their encryption key is missing', async () => {
  await own('pcr_7', { endsInDays: 9 });
  const ending = await examine({});
  expect([ending.exitCode, ending.warnings]).toEqual([
    0,
    { 'AWASH own accounts': expect.stringContaining('0 of 1 have ended, and 1 end within 30 days.') },
  ]);
  await own('pcr_8', { endsInDays: -3 });
  const day = addisDay(new Date(Date.now() - 3 * DAY_MS));
  expect((await examine({})).warnings['AWASH own accounts']).toMatch(
    new RegExp(`^pcr_8 ended on ${day}\\. 1 of 2 have ended, and 1 end within 30 days\\.`),
  );
  await stage.database.asOwner("DELETE FROM provider_credential WHERE id = 'pcr_8'");
  const withoutKey = await examine({ ENCRYPTION_KEYS: `new:${randomBytes(32).toString('base64')}` });
  expect([withoutKey.exitCode, withoutKey.wrong['AWASH own accounts']]).toEqual([
    1,
    expect.stringContaining('1 of 1 cannot be used, the first is pcr_7: they cannot be decrypted.'),
  ]);
}, 60_000);

test('they take the place of an account of the platform if all merchants of the channel have one', async () => {
  const none = Object.fromEntries(
    ['COMPANY_NAME', 'TILL_CODE', 'TOKEN', 'HASH_KEY'].map((name) => [`AWASH_${name}`, undefined]),
  );
  await own('pcr_8');
  const all = await examine(none);
  expect([all.exitCode, all.warnings]).toEqual([0, {}]);
  expect(all.findings).toContainEqual(expect.objectContaining({ found: 'All 1 merchants of the channel have one.' }));
  await approve('mrc_without');
  const one = await examine(none);
  expect(one.warnings).toEqual({
    'AWASH own accounts': expect.stringMatching(
      /^The platform has no account, and 1 of 2 merchants .* Set AWASH_COMPANY_NAME, .* or enter credentials/,
    ),
  });
}, 60_000);
