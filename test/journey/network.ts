import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';

import type { TestCertificate } from '../support/certificates.ts';

type Closable = { port: number; close: () => Promise<void> };

/** Terminates TLS in front of an HTTP server of this machine, as a load balancer does; 502 while the server is down. */
export async function startTlsProxy(certificate: TestCertificate, targetPort: number): Promise<Closable> {
  const forward = (incoming: IncomingMessage, response: ServerResponse): void => {
    const forwardedFor = [incoming.headers['x-forwarded-for'], incoming.socket.remoteAddress]
      .filter(Boolean)
      .join(', ');
    const headers = { ...incoming.headers, 'x-forwarded-for': forwardedFor, 'x-forwarded-proto': 'https' };
    const { method, url: path } = incoming;
    const outgoing = httpRequest({ host: '127.0.0.1', port: targetPort, method, path, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
      reply.on('error', () => response.destroy());
    });
    outgoing.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    incoming.pipe(outgoing);
  };
  return listening(createTlsServer(certificate, forward));
}

/**
 * The installation's way to the internet: an HTTP proxy whose internet consists of one address, behind which the
 * port of this machine is. Connections to any other address are refused.
 */
export async function startInternet(
  address: string,
  port: number,
): Promise<Closable & { url: string; refused: string[] }> {
  const refused: string[] = [];
  const server = createServer((_, response) => void response.writeHead(405).end());
  server.on('connect', ({ url = '' }: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => {});
    if (url !== `${address}:443`) {
      refused.push(url);
      return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    }
    const target = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      target.write(head);
      target.pipe(socket).pipe(target);
    });
    target.on('error', () => socket.destroy());
    return undefined;
  });
  const made = await listening(server);
  return { ...made, url: `http://127.0.0.1:${made.port}`, refused };
}

const HEADER_BYTES = 12;
const TYPE_A = 1;

/** A name server that has this IPv4 address for every name. */
export async function startNameServer(address: string): Promise<{ address: string; close: () => Promise<void> }> {
  const socket = createSocket('udp4');
  const data = Buffer.from(address.split('.').map(Number));
  socket.on('message', (query, { port, address: from }) => {
    const nameEnd = query.indexOf(0, HEADER_BYTES) + 1;
    const question = query.subarray(HEADER_BYTES, nameEnd + 4);
    const isA = query.readUInt16BE(nameEnd) === TYPE_A;
    const header = Buffer.from([0, 0, 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0]);
    query.copy(header, 0, 0, 2);
    // The name again (a pointer to it), type A, class IN, a minute, four bytes.
    const answer = Buffer.concat([Buffer.from([0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]), data]);
    socket.send(Buffer.concat(isA ? [header, question, answer] : [header, question]), port, from);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    close: () => new Promise((done) => void socket.close(() => done())),
  };
}

async function listening(server: ReturnType<typeof createServer>): Promise<Closable> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { port: (server.address() as AddressInfo).port, close };
}
