import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';

import { doctor } from '../../src/app/doctor/doctor.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { createAuthority, createCertificate } from '../support/certificates.ts';
import { runSql } from '../support/database.ts';
import { buildStage, PROJECT, type Stage } from './doctor-stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await buildStage();
}, 60_000);
afterAll(() => stage.close(), 30_000);

const NO_CHANNELS = { channel: ['CBE_BIRR'] };

test('where all is right every check is ok, and the exit code is 0', async () => {
  const { exitCode, findings } = await stage.examine();
  expect(findings.filter(({ status }) => status !== 'ok')).toEqual([]);
  expect(exitCode).toBe(0);
  expect(findings.map(({ name }) => name)).toEqual([
    'settings',
    'database',
    'migrations',
    'database role',
    'database clock',
    'Temporal',
    'Temporal namespace',
    'Temporal search attributes',
    'Temporal schedule nightlyReconciliation',
    'Temporal schedule dueReports',
    'disk of KYC_DOCUMENTS_DIR',
    'disk of REPORTS_DIR',
    'mail',
    'public address',
    "operators' listener",
    ...['settings', 'service', 'clock', 'provider key', 'key', 'query', 'payout query', 'callbacks'].map(
      (name) => `TELEBIRR ${name}`,
    ),
    ...['CBE_BIRR', 'AWASH'].flatMap((channel) =>
      ['settings', 'service', 'clock', 'query', 'payout query', 'callbacks'].map((name) => `${channel} ${name}`),
    ),
  ]);
}, 30_000);

test('the text has a line for each check, with the next step of what is wrong, and a summary', async () => {
  let text = '';
  const terminal = { write: (part: string | Uint8Array) => void (text += part.toString()), note: () => {} };
  const { AWASH_TOKEN: _, ...env } = stage.settings;
  await expect(doctor({ env, project: PROJECT, terminal }, { channel: ['cbe_birr', 'AWASH'] })).resolves.toBe(1);
  const lines = text.trimEnd().split('\n');
  expect(lines).toContainEqual(
    expect.stringMatching(/^ok {7}CBE_BIRR query +CBE Birr answers a signed query .* \(NOT_FOUND\)\.$/),
  );
  expect(lines).toContainEqual(expect.stringMatching(/^wrong {4}AWASH settings +AWASH_TOKEN is not set.* Next: .+/));
  expect(lines.at(-1)).toMatch(/^\d+ checks: \d+ ok, 0 warning, 1 wrong\.$/);
  expect(text).not.toContain('TELEBIRR');
  await expect(doctor({ env, project: PROJECT, terminal }, { channel: ['MPESA'] })).rejects.toMatchObject({
    exitCode: 2,
    message: '--channel must be one of TELEBIRR, CBE_BIRR, AWASH, got "MPESA".',
  });
}, 30_000);

test('every wrong setting is named, and the checks that do not depend on them are made', async () => {
  const { exitCode, findings } = await stage.examine({
    LOG_LEVEL: 'loud',
    DATABASE_URL: undefined,
    LISTEN_HOST: '0.0.0.0',
    TEMPORAL_TLS_CLIENT_KEY_PATH: 'key.pem',
    TELEBIRR_MERCHANT_PRIVATE_KEY: 'planted-key',
    TELEBIRR_APP_KEY: undefined,
    TELEBIRR_APP_KEY_FILE: '/none',
    CBE_BIRR_BASE_URL: 'https://cbe.example.et',
  });
  expect(exitCode).toBe(1);
  const settings = findings.filter(({ name }) => name === 'settings').map(({ found }) => found);
  expect(settings).toEqual([
    expect.stringContaining('TELEBIRR_APP_KEY_FILE cannot be read: ENOENT'),
    expect.stringContaining('LOG_LEVEL must be one of trace, debug'),
    expect.stringContaining('DATABASE_URL must be set'),
    expect.stringContaining('TELEBIRR_MERCHANT_PRIVATE_KEY must be a private key in PEM'),
    expect.stringContaining('TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH must be set together'),
    expect.stringContaining('LISTEN_HOST is "0.0.0.0", but local mode'),
    expect.stringContaining('CBE_BIRR_BASE_URL is "cbe.example.et", but local mode'),
  ]);
  const names = findings.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['Temporal', 'disk of REPORTS_DIR', 'AWASH query']));
  expect(names).not.toContain('database');
  expect(findings.find(({ name }) => name === 'TELEBIRR settings')?.found).toBe(
    'TELEBIRR_APP_KEY, TELEBIRR_MERCHANT_PRIVATE_KEY are wrong.',
  );
}, 30_000);

test('in production the defaults for local use are named, each in a line', async () => {
  const production = { MESKOT_MODE: 'production', API_KEY_PEPPER: undefined, ENCRYPTION_KEYS: undefined };
  const { findings } = await stage.examine({ ...production, MESKOT_DEMO_PAYMENTS: '5' }, NO_CHANNELS);
  const settings = findings.filter(({ name }) => name === 'settings').map(({ found }) => found);
  expect(settings).toEqual([
    'API_KEY_PEPPER must be set to a value of your own.',
    'ENCRYPTION_KEYS must be set to a value of your own.',
    'PUBLIC_BASE_URL must be https.',
    'MESKOT_DEMO_PAYMENTS must not be set: demo data is for local use.',
    'TELEBIRR_BASE_URL must be https in production.',
    'TELEBIRR_PAY_PAGE_URL must be https in production.',
    'CBE_BIRR_BASE_URL must be https in production.',
    'AWASH_BASE_URL must be https in production.',
    expect.stringContaining('TRUSTED_PROXY_COUNT is 0'),
  ]);
}, 30_000);

describe('the database', () => {
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(stage.settings['DATABASE_URL'] ?? '');
    change(url);
    return url.href;
  };

  test('that is away, a wrong password and a missing database are distinguished', async () => {
    const port = String(await anyFreePort());
    const away = await stage.examine({ DATABASE_URL: changed((url) => (url.port = port)) }, NO_CHANNELS);
    expect([away.exitCode, away.wrong]).toEqual([
      1,
      { database: expect.stringMatching(/:\d+ refuses connections\. Check DATABASE_URL, that the service runs/) },
    ]);
    const missing = await stage.examine({ DATABASE_URL: changed((url) => (url.pathname = '/none')) }, NO_CHANNELS);
    expect(missing.wrong['database']).toMatch(/has no such database\. Check the name in DATABASE_URL/);
    const unknown = await stage.examine({ DATABASE_URL: changed((url) => (url.hostname = 'db.invalid')) }, NO_CHANNELS);
    expect(unknown.wrong['database']).toMatch(
      /^(The name db\.invalid does not exist|No name server has answered for db\.invalid)/,
    );
    const password = changed((url) => (url.password = 'planted-password'));
    const rejected = await stage.examine({ DATABASE_URL: password }, NO_CHANNELS);
    expect(rejected.wrong['database']).toMatch(/rejects the user or the password\. Check both in DATABASE_URL/);
  }, 30_000);

  test('that is not migrated is wrong, and the owner as the role is a warning, in production wrong', async () => {
    await stage.database.asOwner("UPDATE schema_migration SET name = 'x' || name WHERE name LIKE '0001-%'");
    const pending = await stage.examine({}, NO_CHANNELS);
    await stage.database.asOwner("UPDATE schema_migration SET name = substr(name, 2) WHERE name LIKE 'x0001-%'");
    expect(pending.wrong['migrations']).toMatch(/^1 are not applied, the first is 0001-.*Run "meskot migrate"/);
    const owner = { DATABASE_URL: stage.database.ownerUrl };
    const local = await stage.examine(owner, NO_CHANNELS);
    expect([local.exitCode, local.warnings['database role']]).toEqual([
      0,
      expect.stringContaining('owns the database'),
    ]);
    const production = await stage.examine({ ...owner, MESKOT_MODE: 'production' }, NO_CHANNELS);
    expect(production.wrong['database role']).toContain('Connect as meskot_app');
  }, 30_000);

  test('whose role switches off foreign keys, takes no writes or does not exist by name is named with the remedy', async () => {
    const { url, superuserUrl } = stage.database;
    const role = `ALTER ROLE meskot_app IN DATABASE ${new URL(url).pathname.slice(1)}`;
    await runSql(superuserUrl, `${role} SET session_replication_role = replica`);
    const { wrong } = await stage.examine({}, NO_CHANNELS);
    expect(wrong).toEqual({
      'database role': expect.stringContaining('ALTER ROLE meskot_app RESET session_replication_role'),
    });
    await runSql(superuserUrl, `${role} RESET ALL; ${role} SET default_transaction_read_only = on`);
    const readOnly = await stage.examine({}, NO_CHANNELS);
    expect(readOnly.wrong).toEqual({ database: expect.stringMatching(/^The database is read-only: .* set it to off/) });
    await runSql(superuserUrl, `${role} RESET ALL`);
    const unknown = changed((to) => (to.hostname = 'no-such-host.invalid'));
    const lost = await stage.examine({ DATABASE_URL: unknown }, NO_CHANNELS);
    expect(lost.wrong).toEqual({ database: expect.stringMatching(/no-such-host\.invalid.* name servers/) });
  }, 30_000);
});

test('Temporal that is away, another server there, and a namespace that is not prepared are distinguished', async () => {
  const away = await stage.examine({ TEMPORAL_ADDRESS: `127.0.0.1:${await anyFreePort()}` }, NO_CHANNELS);
  expect([away.exitCode, Object.keys(away.wrong)]).toEqual([1, ['Temporal']]);
  expect(away.wrong['Temporal']).toMatch(/refuses connections\. Check TEMPORAL_ADDRESS/);
  const other = await stage.examine({ TEMPORAL_ADDRESS: new URL(stage.url).host }, NO_CHANNELS);
  expect(other.wrong['Temporal']).toMatch(/does not answer as Temporal does\. Check TEMPORAL_ADDRESS, and whether/);
  const unprepared = await stage.examine({ TEMPORAL_NAMESPACE: 'none' }, NO_CHANNELS);
  expect(unprepared.wrong).toEqual({
    'Temporal namespace': expect.stringMatching(/^The namespace "none" does not exist\. Run "meskot migrate"/),
  });
  const prefixed = await stage.examine({ TASK_QUEUE_PREFIX: 'other-' }, NO_CHANNELS);
  expect(prefixed.wrong).toEqual({
    'Temporal schedule nightlyReconciliation': expect.stringMatching(
      /^The schedule other-nightlyReconciliation does not exist\./,
    ),
    'Temporal schedule dueReports': expect.stringMatching(/^The schedule other-dueReports does not exist\./),
  });
}, 60_000);

test('Temporal behind TLS: the certificate, its end, and a server without TLS', async () => {
  const authority = await createAuthority();
  const inFolder = (name: string): string => join(stage.settings['REPORTS_DIR'] ?? '', name);
  const file = inFolder('authority.pem');
  const own = await createCertificate(authority, { days: 15 });
  await writeFile(file, authority.cert);
  await writeFile(inFolder('own.pem'), own.cert);
  await writeFile(inFolder('own.key'), own.key);
  const certificate = await createCertificate(authority, { days: 20 });
  const proxy = createTlsServer({ ...certificate, ALPNProtocols: ['h2'] }, (socket) => {
    const upstream = connect(Number(stage.settings['TEMPORAL_ADDRESS']?.split(':')[1]), '127.0.0.1');
    for (const [from, to] of [[socket, upstream] as const, [upstream, socket] as const]) {
      from.on('error', () => to.destroy()).pipe(to);
    }
  });
  proxy.on('tlsClientError', () => {});
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  const TEMPORAL_ADDRESS = `localhost:${(proxy.address() as AddressInfo).port}`;
  const settings = {
    TEMPORAL_ADDRESS,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: file,
    TEMPORAL_TLS_CLIENT_CERT_PATH: inFolder('own.pem'),
    TEMPORAL_TLS_CLIENT_KEY_PATH: inFolder('own.key'),
  };
  const { exitCode, warnings } = await stage.examine(settings, NO_CHANNELS);
  expect([exitCode, warnings]).toEqual([
    0,
    {
      'Temporal certificate': expect.stringMatching(/^The TLS certificate of localhost:\d+ ends in 19 days/),
      'Temporal client certificate': expect.stringContaining('TEMPORAL_TLS_CLIENT_CERT_PATH ends in 14 days'),
    },
  ]);
  const untrusted = await stage.examine({ TEMPORAL_ADDRESS, TEMPORAL_TLS: 'true' }, NO_CHANNELS);
  expect(untrusted.wrong).toEqual({ 'Temporal certificate': expect.stringContaining('is not accepted') });
  const plain = await stage.examine({ TEMPORAL_TLS: 'true' }, NO_CHANNELS);
  expect(Object.keys(plain.wrong)).toEqual(['Temporal certificate']);
  const unreadable = await stage.examine({ ...settings, TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/none.pem' }, NO_CHANNELS);
  expect(unreadable.wrong['Temporal']).toContain('cannot be read (ENOENT)');
  proxy.close();
}, 60_000);

test('a folder that cannot be written to, a full disk and a proxy that is away are wrong', async () => {
  const file = join(stage.settings['REPORTS_DIR'] ?? '', 'file');
  await writeFile(file, '');
  const { wrong } = await stage.examine(
    {
      REPORTS_DIR: file,
      DISK_FREE_MEGABYTES_MIN: '900000000',
      EGRESS_PROXY_URL: `http://127.0.0.1:${await anyFreePort()}`,
    },
    NO_CHANNELS,
  );
  expect(wrong).toEqual({
    'disk of KYC_DOCUMENTS_DIR': expect.stringMatching(/^The disk of KYC_DOCUMENTS_DIR has \d+ MB free/),
    'disk of REPORTS_DIR': expect.stringMatching(/^Nothing can be written to .*file \(ENOTDIR\)/),
    'egress proxy': expect.stringContaining('refuses connections. Check EGRESS_PROXY_URL'),
  });
}, 30_000);

test('the egress proxy is tried by a connection to our public address, and what it answers is named', async () => {
  const { host } = new URL(stage.settings['PUBLIC_BASE_URL'] ?? '');
  let answer = '200 OK';
  const asked: (string | undefined)[] = [];
  const proxy = createServer().on('connect', ({ url }, client) => {
    asked.push(url);
    client.end(`HTTP/1.1 ${answer}\r\n\r\n`);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const examine = async (url: string) => {
    const { findings } = await stage.examine({ EGRESS_PROXY_URL: url }, NO_CHANNELS);
    return findings.find(({ name }) => name === 'egress proxy');
  };
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  expect(await examine(url)).toMatchObject({ status: 'ok', found: `It connects webhooks, here to ${host}.` });
  for (const [status, kind, next] of [
    ['407 Who', 'wrong', /the user and the password in EGRESS_PROXY_URL/],
    ['403 No', 'warning', /allows CONNECT/],
    ['405 Not here', 'wrong', /is a proxy/],
    ['502 Away', 'warning', /reaches 127\.0\.0\.1/],
  ] as const) {
    answer = status;
    const found = expect.stringContaining(`does not connect to ${host} (status ${status.slice(0, 3)})`);
    expect(await examine(url)).toMatchObject({ status: kind, found, next: expect.stringMatching(next) });
  }
  expect(new Set(asked)).toEqual(new Set([host]));
  // A server that is no proxy.
  expect(await examine(stage.url)).toMatchObject({
    status: 'wrong',
    next: expect.stringContaining('EGRESS_PROXY_URL'),
  });
  proxy.close();
}, 30_000);

test('a public address where something else answers is wrong, and so is its callback address', async () => {
  const { wrong } = await stage.examine({ PUBLIC_BASE_URL: stage.simulator.url }, NO_CHANNELS);
  expect(wrong).toEqual({
    'public address': expect.stringContaining('does not answer as the API does (status 404)'),
    'CBE_BIRR callbacks': expect.stringContaining('/api/providers/CBE_BIRR/callback does not answer as the API does'),
  });
  const other = await stage.examine({ CBE_BIRR_CALLBACK_BASE_URL: 'http://nowhere.invalid' }, NO_CHANNELS);
  expect(other.wrong).toEqual({ 'CBE_BIRR callbacks': expect.stringContaining('nowhere.invalid') });
}, 30_000);

test("an operators' listener that the public address leads to is a warning", async () => {
  const url = `http://127.0.0.1:${stage.settings['CONSOLE_PORT']}`;
  const { warnings } = await stage.examine({ PUBLIC_BASE_URL: url }, NO_CHANNELS);
  expect(warnings["operators' listener"]).toContain(`${url} takes operators' requests`);
}, 30_000);
