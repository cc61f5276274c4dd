import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readConfig } from '../../src/config.ts';
import { addDefaults, readGiven, replaceSettings } from '../../src/lib/given-settings.ts';

const REQUIRED = { DATABASE_URL: 'postgresql://localhost/meskot', TEMPORAL_ADDRESS: 'localhost:7233' };
const PEPPER = 'wZ4k0sJp1uXqY7n2Rb9TfQ==';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'meskot-given-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(text: string): string {
  const path = join(folder, 'value');
  writeFileSync(path, text);
  return path;
}

/** The settings in the environment, and the same in a file. */
const bothWays = (name: string, text: string) => [
  { ...REQUIRED, [name]: text },
  { ...REQUIRED, [`${name}_FILE`]: ` ${fileWith(text)}\r` },
];

describe('a setting in the environment or in a file', () => {
  test.each([
    ['API_KEY_PEPPER', ` ${PEPPER}\r\n`, PEPPER],
    ['PUBLIC_BASE_URL', '\thttps://pay.example.et\r', 'https://pay.example.et'],
    ['TRUSTED_PROXY_COUNT', '2\r\n', 2],
    ['TEMPORAL_API_KEY', '\uFEFFkey\n', 'key'],
    ['AWASH_TOKEN', ' token ', 'token'],
    ['TASK_QUEUES', 'money, webhooks', ['money', 'webhooks']],
    ['EGRESS_DENY_CIDRS', '10.0.0.0/8, 192.0.2.7 ,', ['10.0.0.0/8', '192.0.2.7']],
  ])('has no white space around it: %s=%j', (name, text, value) => {
    for (const env of bothWays(name, text)) expect(readConfig(env)).toMatchObject({ [name]: value });
  });

  test('of several keys, none has white space around it', () => {
    const { peppers } = readConfig({ ...REQUIRED, API_KEY_PEPPER: `${PEPPER}, older` });
    expect(peppers).toEqual([PEPPER, 'older']);
  });

  test.each([
    ['LISTEN_HOST', '127.0.0.1'],
    ['PUBLIC_BASE_URL', 'http://localhost:4000'],
    ['WEBHOOK_PORTS', [443, 8_443]],
    ['TEMPORAL_NAMESPACE', 'default'],
    ['EGRESS_DENY_CIDRS', ['168.63.129.16/32']],
    ['TEMPORAL_API_KEY', undefined],
    ['PORTAL_URL', undefined],
    ['TELEBIRR_APP_KEY', undefined],
  ])('is not set if it is empty: %s', (name, byDefault) => {
    for (const text of ['', ' \r\n']) {
      for (const env of bothWays(name, text)) expect(readConfig(env)).toHaveProperty(name, byDefault);
    }
  });

  test('is rejected in production if it is required and empty', () => {
    for (const env of bothWays('API_KEY_PEPPER', ' ')) {
      expect(() => readConfig({ ...env, MESKOT_MODE: 'production' })).toThrow('API_KEY_PEPPER must be set');
    }
  });

  test.each([`"${PEPPER}"`, `'${PEPPER}'`, '""'])('is rejected with quotes around it: %s', (text) => {
    for (const env of bothWays('API_KEY_PEPPER', text)) {
      expect(() => readConfig(env)).toThrow('API_KEY_PEPPER must not have quotes around it');
      expect(() => readConfig(env)).not.toThrow(PEPPER);
    }
  });

  test('may be empty beside its file, and must not be set beside it', () => {
    const inFile = { ...REQUIRED, API_KEY_PEPPER_FILE: fileWith(PEPPER) };
    expect(readConfig({ ...inFile, API_KEY_PEPPER: '' })).toMatchObject({ API_KEY_PEPPER: PEPPER });
    expect(() => readConfig({ ...inFile, API_KEY_PEPPER: PEPPER })).toThrow(
      'API_KEY_PEPPER and API_KEY_PEPPER_FILE must not both be set',
    );
  });

  test('is named in the error, with every other one that cannot be read', () => {
    const read = () => readGiven(['A_KEY', 'B_KEY', 'C_KEY'], { A_KEY_FILE: folder, B_KEY_FILE: '/none', C_KEY: 'c' });
    expect(read).toThrow(/^These settings cannot be read:\n {2}A_KEY_FILE cannot be read: EISDIR.*\n {2}B_KEY_FILE/);
  });

  test.each(['10.0.0.0/33', 'internal', '10.1', '10.0.0.0/8;192.0.2.7'])(
    'is named in the error if "%s" is a network that no webhook may reach',
    (EGRESS_DENY_CIDRS) => {
      expect(() => readConfig({ ...REQUIRED, EGRESS_DENY_CIDRS })).toThrow(
        'EGRESS_DENY_CIDRS must be networks such as 196.188.0.0/16, separated by commas',
      );
    },
  );
});

test('a default is used for a setting that is empty, and not beside the file of one', () => {
  const env = { EMPTY: ' ', OWN: 'own', FILED_FILE: '/file' };
  const defaults = { EMPTY: 'default', OWN: 'default', FILED: 'default', MISSING: 'default' };
  expect(addDefaults(env, defaults)).toEqual({ ...env, EMPTY: 'default', MISSING: 'default' });
  expect(replaceSettings(env, { FILED: 'new' })).toEqual({ ...env, FILED_FILE: undefined, FILED: 'new' });
});
