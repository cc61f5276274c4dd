import { once } from 'node:events';
import {
  connect,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

import { testStack } from './stack-facts.ts';

export type TemporalProxy = {
  address: string;
  /** Which calls, such as `RegisterNamespace`, have which gRPC status from now on. */
  refuse: (statuses: Readonly<Record<string, number>>) => void;
  /** How often each call was made. */
  calls: (name: string) => number;
  close: () => Promise<void>;
};

/** gRPC. */
export const [PERMISSION_DENIED, UNAUTHENTICATED] = [7, 16];
const UNIMPLEMENTED = 12;

/** What a managed service lets nobody do who only runs workers; the operators' service is not there at all. */
export const ADMINISTRATION = {
  RegisterNamespace: PERMISSION_DENIED,
  UpdateNamespace: PERMISSION_DENIED,
  CreateSchedule: PERMISSION_DENIED,
  UpdateSchedule: PERMISSION_DENIED,
  ListSearchAttributes: UNIMPLEMENTED,
  AddSearchAttributes: UNIMPLEMENTED,
};

/** The test server behind a gRPC proxy that answers some calls itself, as the gateway of a managed service does. */
export async function startTemporalProxy(target = testStack().temporalAddress): Promise<TemporalProxy> {
  let refused = new Map<string, number>();
  const counts = new Map<string, number>();
  const sessions = new Set<ServerHttp2Session>();
  const upstream = connect(`http://${target}`);
  const server = createServer();
  server.on('session', (session) => void sessions.add(session.on('close', () => sessions.delete(session))));
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    const name = String(headers[':path']).split('/').at(-1) ?? '';
    counts.set(name, (counts.get(name) ?? 0) + 1);
    stream.on('error', () => {});
    const status = refused.get(name);
    if (status === undefined) return forward(stream, headers);
    const answer = { 'grpc-status': String(status), 'grpc-message': `${name} is not allowed here` };
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...answer }, { endStream: true });
  });
  const forward = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void => {
    const call = upstream.request({ ...headers });
    let trailers: IncomingHttpHeaders = {};
    call.on('response', (answer, flags) => {
      const endStream = (flags & 1) === 1;
      if (!stream.destroyed) stream.respond(answer, { endStream, waitForTrailers: !endStream });
    });
    call.on('trailers', (received) => {
      trailers = received;
    });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.on('aborted', () => call.close());
    pipeline(stream, call, () => {});
    pipeline(call, stream, () => {});
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    refuse: (statuses) => {
      refused = new Map(Object.entries(statuses));
    },
    calls: (name) => counts.get(name) ?? 0,
    close: async () => {
      for (const session of sessions) session.destroy();
      upstream.destroy();
      await new Promise((closed) => void server.close(closed));
    },
  };
}
