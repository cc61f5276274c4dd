import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';

import { Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';

import { readConfig } from '../../src/config.ts';
import { temporalConnection } from '../../src/temporal/client.ts';
import { testStack } from '../support/stack-facts.ts';
import { TEMPORAL_AUTHORITY, TEMPORAL_CERTIFICATE, TEMPORAL_KEY } from '../support/temporal-certificate.ts';
import { quietenTemporal } from '../support/temporal.ts';

let folder: string;
let authority: string;
let certificate: string;
let key: string;
const servers: Server[] = [];
const sockets: Socket[] = [];

beforeAll(async () => {
  quietenTemporal();
  folder = await mkdtemp(join(tmpdir(), 'meskot-tls-'));
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  authority = await write('authority.pem', TEMPORAL_AUTHORITY);
  certificate = await write('certificate.pem', TEMPORAL_CERTIFICATE);
  key = await write('key.pem', TEMPORAL_KEY);
});
afterAll(async () => {
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
  await rm(folder, { recursive: true });
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  server.on('connection', (socket) => void sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `localhost:${(server.address() as AddressInfo).port}`;
}

/** The test server behind TLS, as a proxy puts it there. */
async function behindTls(asksForCertificate: boolean): Promise<string> {
  const options = { cert: TEMPORAL_CERTIFICATE, key: TEMPORAL_KEY, ca: TEMPORAL_AUTHORITY, ALPNProtocols: ['h2'] };
  const [host = '', port = ''] = testStack().temporalAddress.split(':');
  const asks = { requestCert: asksForCertificate, rejectUnauthorized: asksForCertificate };
  const server = createServer({ ...options, ...asks }, (client) => {
    const upstream = connect(Number(port), host);
    sockets.push(upstream);
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
    client.pipe(upstream).pipe(client);
  });
  server.on('tlsClientError', () => {});
  return listen(server);
}

const optionsOf = (settings: Record<string, string>) =>
  temporalConnection(readConfig({ DATABASE_URL: 'postgresql://localhost/meskot', ...settings }));

/** As the API and a worker connect. */
async function reach(settings: Record<string, string>): Promise<void> {
  for (const open of [
    async () => Connection.connect({ ...optionsOf(settings), connectTimeout: 3_000 }),
    async () => NativeConnection.connect(optionsOf(settings)),
  ]) {
    const connection = await open();
    try {
      await connection.workflowService.describeNamespace({ namespace: 'default' });
    } finally {
      await connection.close();
    }
  }
}

test('a connection over TLS succeeds with a trusted certificate authority and fails without it', async () => {
  const TEMPORAL_ADDRESS = await behindTls(false);
  await reach({ TEMPORAL_ADDRESS, TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority });
  const named = { TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority, TEMPORAL_TLS_SERVER_NAME: 'temporal.test' };
  await reach({ TEMPORAL_ADDRESS, ...named });
  await expect(reach({ TEMPORAL_ADDRESS, TEMPORAL_TLS: 'true' })).rejects.toThrow();
}, 30_000);

test('a connection to a Temporal that requires a client certificate succeeds with one and fails without', async () => {
  const TEMPORAL_ADDRESS = await behindTls(true);
  const trusted = { TEMPORAL_ADDRESS, TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority };
  await reach({ ...trusted, TEMPORAL_TLS_CLIENT_CERT_PATH: certificate, TEMPORAL_TLS_CLIENT_KEY_PATH: key });
  await expect(reach(trusted)).rejects.toThrow();
}, 30_000);

test('a connection with an API key sends it with every call', async () => {
  const keys: unknown[] = [];
  const server = createSecureServer({ cert: TEMPORAL_CERTIFICATE, key: TEMPORAL_KEY });
  server.on('stream', (stream, headers) => {
    keys.push(headers.authorization);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '7' }, { endStream: true });
  });
  const TEMPORAL_ADDRESS = await listen(server);
  const settings = { TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority, TEMPORAL_API_KEY: 'planted-key' };
  await expect(reach({ TEMPORAL_ADDRESS, ...settings })).rejects.toThrow();
  expect(keys.length).toBeGreaterThan(0);
  expect(new Set(keys)).toEqual(new Set(['Bearer planted-key']));
}, 30_000);

test('a connection without TLS settings and API key has the address only', () => {
  expect(optionsOf({ TEMPORAL_ADDRESS: 'localhost:7233' })).toEqual({ address: 'localhost:7233' });
});
