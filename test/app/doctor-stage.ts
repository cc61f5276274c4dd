import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  createServer as createPlain,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { startApi } from '../../src/app/api.ts';
import { prepare } from '../../src/app/commands/database.ts';
import type { Finding } from '../../src/app/doctor/check.ts';
import { doctor } from '../../src/app/doctor/doctor.ts';
import { readConfig } from '../../src/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/log.ts';
import { anyFreePort, stopListening } from '../../src/lib/ports.ts';
import { createLiveAccounts } from '../journey/accounts.ts';
import type { TestCertificate } from '../support/certificates.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { testStack } from '../support/stack-facts.ts';

export const PROJECT = resolve(import.meta.dirname, '../..');

type Settings = Record<string, string>;

/** The doctor's report; `wrong` and `warnings` by name. */
export type Report = {
  exitCode: number;
  findings: Finding[];
  wrong: Record<string, string>;
  warnings: Record<string, string>;
};

/** A server of its own beside what the simulator or the API is. */
export type StandIn = { url: string; close: () => Promise<void> };

export type Stage = {
  database: TestDatabase;
  simulator: TestSimulator;
  /** The API's address. */
  url: string;
  /** Everything configured, and all of it right: the simulator stands in for the three live providers. */
  settings: Settings;
  /** Runs `meskot doctor --json` with changed settings; undefined removes one. */
  examine: (
    changes?: Record<string, string | undefined>,
    more?: { channel?: string[]; aheadMs?: number },
  ) => Promise<Report>;
  /** Everything that was printed. */
  printed: () => string;
  /** Forwards to this address, with a certificate or another time. */
  standIn: (target: string, how?: { certificate?: TestCertificate; aheadMs?: number }) => Promise<StandIn>;
  /** A server that does this. */
  serve: (listener: RequestListener, certificate?: TestCertificate) => Promise<StandIn>;
  close: () => Promise<void>;
};

/** A database, a namespace of Temporal, the simulator and the API, as the doctor finds them on a machine that is well. */
export async function buildStage(): Promise<Stage> {
  const providersPort = await anyFreePort();
  const live = createLiveAccounts(`http://127.0.0.1:${providersPort}`);
  const [database, simulator, port, metricsPort, consolePort, folder] = await Promise.all([
    createTestDatabase(),
    startTestSimulator({ port: providersPort, accounts: live.accounts }),
    anyFreePort(),
    anyFreePort(),
    anyFreePort(),
    mkdtemp(join(tmpdir(), 'meskot-doctor-')),
  ]);
  const url = `http://127.0.0.1:${port}`;
  const settings: Settings = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: testStack().temporalAddress,
    TEMPORAL_NAMESPACE: `doctor-${randomBytes(4).toString('hex')}`,
    API_KEY_PEPPER: 'planted-pepper-7Jq2ZxT0vB9kLm4R',
    ENCRYPTION_KEYS: `own:${randomBytes(32).toString('base64')}`,
    PUBLIC_BASE_URL: url,
    API_PORT: String(port),
    METRICS_PORT: String(metricsPort),
    CONSOLE_PORT: String(consolePort),
    KYC_DOCUMENTS_DIR: join(folder, 'documents'),
    REPORTS_DIR: folder,
    RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '0',
    ...live.settings,
    CBE_BIRR_PAYOUTS: 'true',
    AWASH_PAYOUTS: 'true',
  };
  const quiet = { project: PROJECT, print: () => {}, warn: () => {} };
  await prepare(readConfig({ ...settings, DATABASE_URL: database.ownerUrl }), quiet);
  const api = await startApi(readConfig(settings), {
    log: createLogger('silent', 'test'),
    project: PROJECT,
    version: 'test',
  });
  const servers: Server[] = [];
  let printed = '';
  const serve: Stage['serve'] = async (listener, certificate) => {
    const server = certificate ? createSecure(certificate, listener) : createPlain(listener);
    servers.push(server);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const address = server.address() as AddressInfo;
    return {
      url: `http${certificate ? 's' : ''}://localhost:${address.port}`,
      close: async () => stopListening(server),
    };
  };
  return {
    database,
    simulator,
    url,
    settings,
    serve,
    standIn: async (target, { certificate, aheadMs = 0 } = {}) => serve(forward(target, aheadMs), certificate),
    printed: () => printed,
    examine: async (changes = {}, { channel, aheadMs = 0 } = {}) => {
      let text = '';
      const write = (part: string | Uint8Array): void => void (text += part.toString());
      const clock = () => new Date(systemClock().getTime() + aheadMs);
      const machine = { env: { ...settings, ...changes }, project: PROJECT, clock, terminal: { write, note: write } };
      const exitCode = await doctor(machine, { ...(channel && { channel }), json: true });
      printed += text;
      return reportOf(exitCode, text);
    },
    close: async () => {
      await api.stop();
      await Promise.all([simulator.close(), ...servers.map(async (server) => stopListening(server))]);
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function reportOf(exitCode: number, text: string): Report {
  const findings = JSON.parse(text) as Finding[];
  const by = (status: Finding['status']) =>
    Object.fromEntries(
      findings.filter((one) => one.status === status).map(({ name, found, next }) => [name, `${found} ${next}`]),
    );
  return { exitCode, findings, wrong: by('wrong'), warnings: by('warning') };
}

function forward(target: string, aheadMs: number): RequestListener {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { 'x-app-key': appKey = '', authorization = '' } = request.headers;
    const reply = await fetch(`${target}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { 'content-type': 'application/json', 'x-app-key': String(appKey), authorization },
      ...(request.method === 'POST' && { body: Buffer.concat(pieces) }),
    });
    response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString());
    response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? 'text/plain' });
    response.end(await reply.text());
  };
  return (request, response) => void answer(request, response);
}

/** A new key pair, in PEM. */
export function keyPair(modulusLength = 2_048) {
  return generateKeyPairSync('rsa', {
    modulusLength,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}
