import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';

import { z } from 'zod';

import { createArrivals } from '../../src/http/arrivals.ts';
import { readRoute } from '../../src/http/route.ts';
import { createTestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps } from '../support/http.ts';

const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve));

const from = (headers: IncomingMessage['headers'], remoteAddress = '10.0.0.1') =>
  ({ headers, socket: { remoteAddress } }) as unknown as IncomingMessage;

/** Lets two begin in one turn, and writes down which have. */
function newArrivals() {
  const arrive = createArrivals({ begunAtOnceMax: 2, addressOf: ({ socket }) => String(socket.remoteAddress) });
  const begun: string[] = [];
  const send = (name: string, headers: IncomingMessage['headers'] = { 'x-api-key': name.slice(0, 1) }): void =>
    arrive(from(headers), () => void begun.push(name));
  return { arrive, begun, send };
}

test('requests beyond the limit of one turn of the event loop begin in the next turns, in their order', async () => {
  const { begun, send } = newArrivals();
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) send(name);
  expect(begun).toEqual(['a1', 'a2']);
  await nextTurn();
  expect(begun).toEqual(['a1', 'a2', 'a3', 'a4']);
  await nextTurn();
  expect(begun).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
  await nextTurn();
  send('a6');
  expect(begun.at(-1)).toBe('a6');
});

test('queued requests begin in turns by caller: by key in either header, without a key by address', async () => {
  const { arrive, begun, send } = newArrivals();
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7']) send(name);
  send('b1', { authorization: 'Bearer b' });
  arrive(from({}), () => void begun.push('nobody'));
  arrive(from({}, '10.0.0.2'), () => void begun.push('nobody else'));
  await nextTurn();
  await nextTurn();
  await nextTurn();
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'nobody', 'nobody else', 'a4', 'a5']);
  await nextTurn();
  expect(begun.slice(8)).toEqual(['a6', 'a7']);
});

test('a request right after 200 requests with another key gets its response before most of them', async () => {
  const database = await createTestDatabase();
  const begun: string[] = [];
  const look = readRoute('GET /api/look', {
    operationId: 'look',
    tag: 'Balance',
    summary: 'Writes down who has looked',
    auth: { by: 'key', scope: 'balance:read' },
    responses: { 200: z.null() },
    handle: async ({ caller }) => {
      begun.push(caller.merchantId);
      return { message: 'Seen', data: null };
    },
  });
  const http = await startTestServer(testServerDeps(database.db, { routes: [look] }));
  const port = Number(new URL(http.url).port);
  const sockets = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')] as const;
  try {
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const request = (merchantId: string): string =>
      `GET /api/look HTTP/1.1\r\nHost: test\r\nX-Api-Key: ${stubKey(merchantId)}\r\n\r\n`;
    sockets[0].resume().write(request('mrc_A').repeat(200));
    sockets[1].write(request('mrc_B'));
    const [response] = (await once(sockets[1], 'data')) as [Buffer];
    expect(response.toString()).toMatch(/^HTTP\/1\.1 200/);
    expect(begun.indexOf('mrc_B')).toBeLessThan(100);
    while (begun.length < 201) await nextTurn();
  } finally {
    for (const socket of sockets) socket.destroy();
    await http.close();
    await database.drop();
  }
});
