import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readConfig } from '../src/config.ts';

const REQUIRED = { DATABASE_URL: 'postgresql://localhost/meskot', TEMPORAL_ADDRESS: 'localhost:7233' };
/** The encryption key that a start without settings uses. */
const LOCAL_KEYS = `local:${Buffer.alloc(32, 'local-development-only').toString('base64')}`;
const keyOf = (bytes: number): string =>
  `a:${createHash('sha512').update('a').digest().subarray(0, bytes).toString('base64')}`;
const inBase64 = (text: string): string => Buffer.from(text).toString('base64');
/** The settings that production requires. */
const OWN = {
  API_KEY_PEPPER: 'wZ4k0sJp1uXqY7n2Rb9TfQ==',
  ENCRYPTION_KEYS: keyOf(32),
  PUBLIC_BASE_URL: 'https://pay.example.et',
  KYC_DOCUMENTS_DIR: '/var/lib/meskot/documents',
  REPORTS_DIR: '/var/lib/meskot/reports',
};

describe('settings', () => {
  test.each([
    'DATABASE_POOL_MAX',
    'TEMPORAL_RETENTION_DAYS',
    'WEBHOOK_WORKFLOW_START_CONCURRENCY',
    'WEBHOOK_CONCURRENCY_PER_SUBSCRIPTION',
    'WEBHOOK_RESENDS_PER_SECOND',
  ])('reject %s=0, which would stop all work', (name) => {
    expect(() => readConfig({ ...REQUIRED, [name]: '0' })).toThrow(name);
    expect(readConfig({ ...REQUIRED, [name]: '1' })).toMatchObject({ [name]: 1 });
  });

  test.each([
    [{ API_PORT: 'abc' }, '  API_PORT must be a whole number from 1 to 65535, got "abc"'],
    [{ API_PORT: '6000' }, '  API_PORT must not be a port that browsers refuse; choose another, got "6000"'],
    [{ TRUSTED_PROXY_COUNT: '11' }, '  TRUSTED_PROXY_COUNT must be a whole number from 0 to 10, got "11"'],
    [{ LOG_LEVEL: 'loud' }, '  LOG_LEVEL must be one of trace, debug, info, warn, error, silent, got "loud"'],
    [{ ALLOW_LOOPBACK_WEBHOOKS: 'yes' }, '  ALLOW_LOOPBACK_WEBHOOKS must be one of true, false, got "yes"'],
    [{ TASK_QUEUES: 'money,mail' }, 'must be one of payments, money, webhooks, reports'],
    [
      { WEBHOOK_RETRY_SCHEDULE_SECONDS: '60,soon' },
      'must be 1 to 20 whole numbers from 1 to 604800, separated by commas',
    ],
    [{ PUBLIC_BASE_URL: 'pay' }, '  PUBLIC_BASE_URL must be a full address such as https://pay.example.et'],
    [{ DATABASE_URL: undefined }, '  DATABASE_URL must be set: the PostgreSQL database, such as postgresql://'],
    [{ TEMPORAL_ADDRESS: '' }, '  TEMPORAL_ADDRESS must be set: host and port of the Temporal server'],
    [{ TEMPORAL_TLS: 'false', TEMPORAL_API_KEY: 'a' }, '  TEMPORAL_TLS must not be false beside TEMPORAL_API_KEY'],
    [{ TEMPORAL_TLS_CLIENT_KEY_PATH: 'a.pem' }, '_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH must be set together'],
    [{ TEMPORAL_WORKER_BUILD_ID: 'a b' }, 'TEMPORAL_WORKER_BUILD_ID must be letters, digits'],
  ])('reject %j with the allowed values', (changes, message) => {
    expect(() => readConfig({ ...REQUIRED, ...changes })).toThrow(message);
  });

  test('connect to Temporal over TLS if TEMPORAL_TLS is true or a TLS setting is given', () => {
    expect(readConfig(REQUIRED).usesTemporalTls).toBe(false);
    expect(readConfig({ ...REQUIRED, TEMPORAL_TLS: 'true' }).usesTemporalTls).toBe(true);
    expect(readConfig({ ...REQUIRED, TEMPORAL_API_KEY: 'a' }).usesTemporalTls).toBe(true);
  });

  test('never repeat the value of a rejected secret', () => {
    const read = () => readConfig({ ...REQUIRED, API_KEY_PEPPER: 'planted', ENCRYPTION_KEYS: 'planted' });
    expect(read).toThrow('API_KEY_PEPPER must be at least 24 characters long; make one with: openssl rand -base64 32');
    expect(read).not.toThrow('planted');
  });

  test.each(['443,', ',', '0', '65536', 'https', '443;8443'])('reject "%s" as the ports of webhooks', (ports) => {
    expect(() => readConfig({ ...REQUIRED, WEBHOOK_PORTS: ports })).toThrow('WEBHOOK_PORTS');
  });

  test.each([31, 33])('reject an encryption key of %i bytes, whose base64 is as long as that of 32', (bytes) => {
    expect(keyOf(bytes)).toHaveLength(keyOf(32).length);
    expect(() => readConfig({ ...REQUIRED, ENCRYPTION_KEYS: keyOf(bytes) })).toThrow('ENCRYPTION_KEYS');
    expect(() => readConfig({ ...REQUIRED, ENCRYPTION_KEYS: `${keyOf(32)},${keyOf(bytes)}` })).toThrow('32-bytes');
  });

  test('accept encryption keys of 32 bytes, the first of which encrypts', () => {
    const { keyRing } = readConfig({ ...REQUIRED, ENCRYPTION_KEYS: `${keyOf(32)},${keyOf(32).replace('a:', 'b:')}` });
    expect([keyRing.currentId, ...keyRing.keys.keys()]).toEqual(['a', 'a', 'b']);
    expect(() => readConfig({ ...REQUIRED, ENCRYPTION_KEYS: `${keyOf(32)},${keyOf(32)}` })).toThrow('the same id');
  });

  test.each([
    ['a'.repeat(44), 'has fewer than 8 different characters'],
    ['abababababababababababababab', 'has fewer than 8 different characters'],
    ['correct-horse!correct-horse!', 'repeats or counts characters'],
    ['abcdefghijklmnopqrstuvwxyz', 'repeats or counts characters'],
    ['9876543210ZYXWVUTSRQPONMLKJ', 'repeats or counts characters'],
  ])('reject the guessable pepper %s', (pepper, message) => {
    for (const MESKOT_MODE of ['local', 'production']) {
      const read = () => readConfig({ ...REQUIRED, ...OWN, MESKOT_MODE, API_KEY_PEPPER: pepper });
      expect(read).toThrow(`API_KEY_PEPPER ${message}`);
      expect(read).toThrow('make one with: openssl rand -base64 32');
    }
  });

  test.each([
    [Buffer.alloc(32).toString('base64'), 'has fewer than 16 different characters'],
    [Buffer.alloc(32, Buffer.from(keyOf(16).slice(2), 'base64')).toString('base64'), 'repeats or counts characters'],
    [Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64'), 'repeats or counts characters'],
    [inBase64('my-super-secret-key-for-payments'), 'is text in base64, not random bytes'],
  ])('reject the guessable encryption key %s', (key, message) => {
    const read = () => readConfig({ ...REQUIRED, ...OWN, ENCRYPTION_KEYS: `a:${key}` });
    expect(read).toThrow(`ENCRYPTION_KEYS ${message}`);
    expect(read).toThrow('make one with: openssl rand -base64 32');
  });

  test('accept random secrets like those of openssl', () => {
    for (let times = 0; times < 1_000; times += 1) {
      const settings = {
        API_KEY_PEPPER: randomBytes(16).toString('hex'),
        ENCRYPTION_KEYS: `a:${randomBytes(32).toString('base64')}`,
      };
      expect(() => readConfig({ ...REQUIRED, ...settings })).not.toThrow();
    }
  });

  test('accept weak secrets after the current ones, so that they can be rotated', () => {
    const weak = { API_KEY_PEPPER: 'a'.repeat(16), ENCRYPTION_KEYS: `old:${Buffer.alloc(32).toString('base64')}` };
    const { API_KEY_PEPPER, peppers, keyRing } = readConfig({
      ...REQUIRED,
      API_KEY_PEPPER: `${OWN.API_KEY_PEPPER},${weak.API_KEY_PEPPER}`,
      ENCRYPTION_KEYS: `${keyOf(32)},${weak.ENCRYPTION_KEYS}`,
    });
    expect([API_KEY_PEPPER, peppers]).toEqual([OWN.API_KEY_PEPPER, [OWN.API_KEY_PEPPER, weak.API_KEY_PEPPER]]);
    expect([keyRing.currentId, ...keyRing.keys.keys()]).toEqual(['a', 'a', 'old']);
    expect(() => readConfig({ ...REQUIRED, API_KEY_PEPPER: `${OWN.API_KEY_PEPPER},` })).toThrow('comma');
  });

  test('a bucket takes the place of both folders, in production too', () => {
    const folders = { KYC_DOCUMENTS_DIR: undefined, REPORTS_DIR: '' };
    const keys = { S3_ACCESS_KEY_ID: 'key', S3_SECRET_ACCESS_KEY: 'secret' };
    const endpoint = 'https://objects.example.et';
    const place = { S3_BUCKET: 'meskot', S3_PREFIX: 'shop/', S3_ENDPOINT: endpoint, ...keys };
    const production = { ...REQUIRED, ...OWN, ...folders, MESKOT_MODE: 'production' };
    const bucket = {
      name: 'meskot',
      region: 'us-east-1',
      endpoint,
      pathStyle: true,
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    };
    expect(readConfig({ ...production, ...place })).toMatchObject({
      files: { documents: { ...bucket, prefix: 'shop/documents/' }, reports: { ...bucket, prefix: 'shop/reports/' } },
      disks: { folders: {} },
    });
    const { files } = readConfig({ ...production, S3_BUCKET: 'meskot', S3_ENDPOINT: '', S3_REGION: 'af-south-1' });
    expect(files.documents).toEqual({
      name: 'meskot',
      prefix: 'documents/',
      region: 'af-south-1',
      endpoint: undefined,
      pathStyle: false,
      credentials: undefined,
    });
    expect(readConfig(REQUIRED).files).toEqual({ documents: '.data/documents', reports: '.data/reports' });
  });

  test.each([
    [{ KYC_DOCUMENTS_DIR: '/d', S3_BUCKET: 'meskot' }, 'KYC_DOCUMENTS_DIR must not be set beside S3_BUCKET'],
    [{ REPORTS_DIR: '/r', S3_BUCKET: 'meskot' }, 'REPORTS_DIR must not be set beside S3_BUCKET'],
    [{ S3_ENDPOINT: 'https://objects.example.et' }, 'S3_ENDPOINT must not be set without S3_BUCKET'],
    [
      { S3_BUCKET: 'meskot', S3_ACCESS_KEY_ID: 'key' },
      'S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together',
    ],
    [{ S3_BUCKET: 'Meskot!' }, 'S3_BUCKET must be the name of a bucket'],
    [{ S3_BUCKET: 'meskot', S3_PREFIX: '/a' }, 'S3_PREFIX must be names that each end with a slash'],
    [{ S3_BUCKET: 'meskot', S3_ENDPOINT: 'objects.example.et' }, 'S3_ENDPOINT must be a full address'],
    [
      { S3_BUCKET: 'meskot', S3_ENDPOINT: 'https://a.example/b' },
      'S3_ENDPOINT must be a full address such as https://objects.example.et',
    ],
  ])('settings of files that contradict each other or name no bucket are refused: %j', (changes, message) => {
    expect(() => readConfig({ ...REQUIRED, ...changes })).toThrow(message);
  });

  test.each([
    [{ API_KEY_PEPPER: undefined }, 'API_KEY_PEPPER must be set to a value of your own'],
    [{ API_KEY_PEPPER: 'local-development-only-pepper' }, 'API_KEY_PEPPER must be set to a value of your own'],
    [{ ENCRYPTION_KEYS: undefined }, 'ENCRYPTION_KEYS must be set to a value of your own'],
    [{ ENCRYPTION_KEYS: LOCAL_KEYS }, 'ENCRYPTION_KEYS must be set to a value of your own'],
    [{ ENCRYPTION_KEYS: `${keyOf(32)},${LOCAL_KEYS}` }, 'ENCRYPTION_KEYS must be set to a value of your own'],
    [{ PUBLIC_BASE_URL: undefined }, 'PUBLIC_BASE_URL must be set to a value of your own'],
    [{ PUBLIC_BASE_URL: 'http://pay.example.et' }, 'PUBLIC_BASE_URL must be https'],
    [{ KYC_DOCUMENTS_DIR: undefined }, 'KYC_DOCUMENTS_DIR must be set to a value of your own, or S3_BUCKET'],
    [{ REPORTS_DIR: undefined }, 'REPORTS_DIR must be set to a value of your own, or S3_BUCKET'],
    [{ ALLOW_LOOPBACK_WEBHOOKS: 'true' }, 'ALLOW_LOOPBACK_WEBHOOKS must not be true'],
    [{ MESKOT_DEMO_PAYMENTS: '3000' }, 'MESKOT_DEMO_PAYMENTS must not be set'],
  ])('reject in production the local-only setting %j', (changes, message) => {
    const production = { ...REQUIRED, ...OWN, MESKOT_MODE: 'production' };
    expect(readConfig(production)).toMatchObject({ production: true, egress: { allowLoopback: false } });
    expect(() => readConfig({ ...production, ...changes })).toThrow(
      `MESKOT_MODE=production refuses to start:\n  ${message}`,
    );
    expect(() => readConfig({ ...production, ...changes, MESKOT_MODE: 'local' })).not.toThrow();
  });

  test.each(['0.0.0.0', '::', '10.0.0.7', '192.168.1.5', 'meskot.example.et', '127.0.0.1.example.et'])(
    'reject LISTEN_HOST="%s" in local mode, whose secrets are published',
    (LISTEN_HOST) => {
      expect(() => readConfig({ ...REQUIRED, LISTEN_HOST })).toThrow(
        `LISTEN_HOST is "${LISTEN_HOST}", but local mode listens on this machine only`,
      );
      expect(() => readConfig({ ...REQUIRED, ...OWN, LISTEN_HOST, MESKOT_MODE: 'production' })).not.toThrow();
    },
  );

  test('reject a CONSOLE_HOST of other machines in local mode, and take an empty one for none', () => {
    const elsewhere = { ...REQUIRED, CONSOLE_HOST: '0.0.0.0' };
    expect(() => readConfig(elsewhere)).toThrow(
      'CONSOLE_HOST is "0.0.0.0", but local mode listens on this machine only',
    );
    const production = { ...OWN, MESKOT_MODE: 'production' };
    expect(readConfig({ ...elsewhere, ...production, LISTEN_HOST: '0.0.0.0' })).toMatchObject({
      CONSOLE_HOST: '0.0.0.0',
    });
    const empty = { ...REQUIRED, ...production, CONSOLE_HOST: '', LISTEN_HOST: '0.0.0.0' };
    expect(readConfig(empty)).toMatchObject({ CONSOLE_HOST: '127.0.0.1' });
  });

  test.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('accept LISTEN_HOST=%s in local mode', (LISTEN_HOST) => {
    expect(readConfig({ ...REQUIRED, LISTEN_HOST })).toMatchObject({ LISTEN_HOST });
  });

  test('require no secrets for a command that uses none', () => {
    const production = { ...REQUIRED, MESKOT_MODE: 'production' };
    expect(() => readConfig(production)).toThrow('refuses to start');
    expect(readConfig(production, { usesSecrets: false })).toMatchObject({ production: true });
  });

  test('may all be in files in production', () => {
    const folder = mkdtempSync(join(tmpdir(), 'meskot-settings-'));
    const given = { ...OWN, PORTAL_URL: 'https://portal.example.et', SMTP_URL: 'smtps://shop:word@smtp.example.et' };
    const inFiles = Object.entries(given).map(([name, value]) => {
      const path = join(folder, name);
      writeFileSync(path, `${value}\n`);
      return [`${name}_FILE`, path];
    });
    const production = { ...REQUIRED, MESKOT_MODE: 'production' };
    expect(readConfig({ ...production, ...Object.fromEntries(inFiles) })).toEqual(
      readConfig({ ...production, ...given }),
    );
    rmSync(folder, { recursive: true });
  });

  test('contain a public simulator URL in production only if SIMULATOR_PUBLIC_URL is set', () => {
    const production = { ...REQUIRED, ...OWN, MESKOT_MODE: 'production', SIMULATOR_URL: 'http://simulator:4002' };
    const publicUrlOf = (env: Record<string, string>) => readConfig(env).simulator.simulatorPublicUrl;
    expect(publicUrlOf(production)).toBeNull();
    expect(publicUrlOf({ ...production, SIMULATOR_PUBLIC_URL: OWN.PUBLIC_BASE_URL })).toBe(OWN.PUBLIC_BASE_URL);
    expect(publicUrlOf({ ...REQUIRED, SIMULATOR_URL: 'http://localhost:4711' })).toBe('http://localhost:4711');
  });
});
