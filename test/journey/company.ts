import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { anyFreePort } from '../../src/lib/ports.ts';
import { createAuthority, createCertificate } from '../support/certificates.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { meskot, startProgram, type Program } from '../support/program.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { controlSimulator } from '../support/simulator.ts';
import { testStack } from '../support/stack-facts.ts';
import { createLiveAccounts } from './accounts.ts';
import { startInternet, startNameServer, startTlsProxy } from './network.ts';
import { connectTo, type Connection } from './send.ts';

/** Where the merchant's server is: a public name and address, of which this machine's internet has no other. */
export const SHOP = { host: 'hooks.coffee.example', address: '196.188.120.20' };

type Simulator = ReturnType<typeof controlSimulator>;

/** A production installation of a company, reached over TLS as from outside. */
export type Company = {
  url: string;
  /** As an operator's machine reaches their listener. */
  operatorsUrl: string;
  database: TestDatabase;
  settings: Record<string, string>;
  /** Values that may appear nowhere outside the settings. */
  secrets: Record<string, string>;
  /** With it the live telebirr signs. */
  providerPrivateKey: string;
  receiver: Receiver;
  /** The admin calls of the sandbox's simulator, and of the one that stands for the live providers. */
  sandbox: Simulator;
  live: Simulator;
  send: Connection['send'];
  /** Runs `meskot …` as a process of its own; fails unless it ends with 0. */
  meskot: (args: string[], settings?: Record<string, string>) => Promise<string>;
  /** Starts API and worker; `kill` ends both with SIGKILL. */
  start: () => Promise<void>;
  kill: () => Promise<void>;
  /** What all processes have printed, and what their metrics show now. */
  output: () => string;
  metrics: () => Promise<string>;
  close: () => Promise<void>;
};

/** Prepares everything but the schema, which is still empty: `meskot migrate` makes it. */
export async function foundCompany(): Promise<Company> {
  const [authority, folder, database] = [
    await createAuthority(),
    await mkdtemp(join(tmpdir(), 'meskot-journey-')),
    await createTestDatabase(),
  ];
  await database.asOwner('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  const [certificate, shopCertificate] = await Promise.all([
    createCertificate(authority),
    createCertificate(authority, { host: SHOP.host }),
  ]);
  const authorityFile = join(folder, 'authority.pem');
  await writeFile(authorityFile, authority.cert);
  const ports = { api: await anyFreePort(), console: await anyFreePort() };
  const [sandboxPort, livePort] = [await anyFreePort(), await anyFreePort()];
  const receiver = await startReceiver({ tls: shopCertificate });
  const [internet, names, apiFront, operatorsFront, liveFront] = await Promise.all([
    startInternet(SHOP.address, receiver.port),
    startNameServer(SHOP.address),
    startTlsProxy(certificate, ports.api),
    startTlsProxy(certificate, ports.console),
    startTlsProxy(certificate, livePort),
  ]);
  const { accounts, secrets, settings: liveSettings } = createLiveAccounts(`https://localhost:${liveFront.port}`);
  const accountsFile = join(folder, 'accounts.json');
  await writeFile(accountsFile, JSON.stringify(accounts), { mode: 0o600 });
  const url = `https://localhost:${apiFront.port}`;
  const pepper = randomBytes(24).toString('base64');
  const encryptionKey = randomBytes(32).toString('base64');
  const common = { MESKOT_MODE: 'production', NODE_EXTRA_CA_CERTS: authorityFile };
  const settings = {
    ...common,
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'name-server.mjs')}`,
    NAME_SERVER: names.address,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: testStack().temporalAddress,
    TASK_QUEUE_PREFIX: `${randomBytes(4).toString('hex')}-`,
    API_KEY_PEPPER: pepper,
    ENCRYPTION_KEYS: `own:${encryptionKey}`,
    PUBLIC_BASE_URL: url,
    API_PORT: String(ports.api),
    CONSOLE_PORT: String(ports.console),
    TRUSTED_PROXY_COUNT: '1',
    LOG_LEVEL: 'trace',
    SHUTDOWN_DELAY_SECONDS: '0',
    KYC_DOCUMENTS_DIR: join(folder, 'documents'),
    REPORTS_DIR: join(folder, 'reports'),
    SIMULATOR_URL: `http://localhost:${sandboxPort}`,
    EGRESS_PROXY_URL: internet.url,
    RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '1000',
    ...liveSettings,
  };
  const simulators = Promise.all([
    startProgram('simulator', { ...common, SIMULATOR_PORT: String(sandboxPort) }),
    startProgram('simulator', {
      ...common,
      SIMULATOR_PORT: String(livePort),
      SIMULATOR_ACCOUNTS_PATH: accountsFile,
    }),
  ]);
  const run = (args: string[], more: Record<string, string> = {}) => runMeskot(args, { ...settings, ...more });
  await Promise.all([simulators, run(['migrate'], { DATABASE_URL: database.ownerUrl })]);
  const started: Program[] = [...(await simulators)];
  const serving: Program[] = [];
  const connection = connectTo(url, authority.cert);
  const kill = async (): Promise<void> => void (await Promise.all(serving.splice(0).map((one) => one.kill())));
  return {
    url,
    operatorsUrl: `https://localhost:${operatorsFront.port}`,
    database,
    settings,
    secrets: { ...secrets, pepper, encryptionKey },
    providerPrivateKey: accounts.TELEBIRR.providerPrivateKey,
    receiver,
    sandbox: controlSimulator(`http://127.0.0.1:${sandboxPort}`),
    live: controlSimulator(`http://127.0.0.1:${livePort}`),
    send: connection.send,
    meskot: run,
    start: async () => {
      serving.push(...(await Promise.all([startProgram('api', settings), startProgram('worker', settings)])));
      started.push(...serving);
    },
    kill,
    output: () => started.flatMap(({ lines }) => lines).join('\n'),
    metrics: async () => {
      const texts = await Promise.all(serving.map(async ({ metricsUrl }) => (await fetch(metricsUrl)).text()));
      return texts.join('\n');
    },
    close: async () => {
      await Promise.all(started.map((one) => one.kill()));
      await Promise.all([receiver, internet, names, apiFront, operatorsFront, liveFront].map((one) => one.close()));
      await connection.close();
      await database.drop();
      await rm(folder, { recursive: true });
    },
  };
}

function runMeskot(args: string[], settings: Record<string, string>): Promise<string> {
  const env = { ...process.env, ...settings };
  return new Promise((done, fail) => {
    execFile(process.execPath, meskot(...args), { env }, (error, out, err) =>
      error ? fail(new Error(`meskot ${args.join(' ')} ended with ${error.code}:\n${out}${err}`)) : done(out),
    );
  });
}
