import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import { operatorReadRoute } from '../access/operator-route.ts';
import { InEnvironment } from '../access/operator-schema.ts';
import { whyNotLive } from '../access/users/identify.ts';
import { findUsableSessions } from '../access/users/sessions.ts';
import { readRoute, type OperatorCaller, type Route, type UserCaller } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { AppError, serviceUnavailable } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Environment } from '../lib/scope.ts';
import { CHANGE_SCOPES, createChangeReader, type Change, type ChangeKind } from './changes.ts';

/** Changes are collected this long, so that one message has all of a moment. */
const READ_EVERY_MS = 250;
/** A session that has ended ends its streams within this time. */
const SESSIONS_CHECKED_EVERY_MS = 3_000;
/** Less than what proxies and the page itself take for a lost connection. */
const HEARTBEAT_EVERY_MS = 25_000;
/** Of more changes of one kind at once, a stream gets no ids: the page reads what it shows. */
const IDS_MAX = 50;
/** `unreadBytes`: of one stream. A reader that is further behind is cut off; the page then reads everything again. */
const LIMITS = { ofUser: 5, ofProcess: 2_000, unreadBytes: 65_536 };

/** An operator signed in at the console, who looks at one environment. */
type OperatorReader = Extract<OperatorCaller, { sessionId: string }> & { environment: Environment };
/** Whose pages a stream is for. */
type Reader = UserCaller | OperatorReader;
type Stream = { caller: Reader; output: Readable };
type Deps = { db: Database; clock: Clock; log: Logger };
export type Streams = ReturnType<typeof createStreams>;

/**
 * The open streams of this process. While there is one, the changes of their merchants are read from the database; each
 * stream gets those of its merchant and environment, of the kinds that its role may read. Streams of operators get those
 * of all merchants.
 */
export function createStreams({ db, clock, log }: Deps, limits = LIMITS) {
  const streams = new Set<Stream>();
  const reader = createChangeReader(db);
  let reading: { begun: Promise<void> } | null = null;

  const send = (stream: Stream, text: string): void => {
    if (stream.output.push(text)) return;
    // Closes the connection, with what was not read.
    streams.delete(stream);
    stream.output.destroy();
  };
  const end = (stream: Stream): void => {
    streams.delete(stream);
    stream.output.push(null);
  };

  const sendChanges = (changes: readonly Change[]): void => {
    for (const stream of streams) {
      const own = messageOf(changes, stream.caller);
      if (own.length > 0) send(stream, `data: ${JSON.stringify(own)}\n\n`);
    }
  };

  const read = async (): Promise<void> => {
    const begun = reader.begin();
    reading = { begun };
    const last = { check: performance.now(), heartbeat: performance.now() };
    try {
      await begun;
      while (streams.size > 0) {
        sendChanges(await reader.read(merchantIdsOf(streams)));
        const now = performance.now();
        if (now - last.check >= SESSIONS_CHECKED_EVERY_MS) {
          for (const stream of await findUnusable({ db, clock }, [...streams])) end(stream);
          last.check = now;
        }
        if (now - last.heartbeat >= HEARTBEAT_EVERY_MS) {
          for (const stream of streams) send(stream, ':\n\n');
          last.heartbeat = now;
        }
        await sleep(READ_EVERY_MS);
      }
    } catch (error) {
      // The pages open new streams, and read in intervals until that succeeds.
      log.warn({ err: error, streams: streams.size }, 'changes could not be read; all streams end');
      for (const stream of streams) end(stream);
    } finally {
      reading = null;
    }
  };

  return {
    /** Opens a stream of server-sent events, until the signal aborts. Throws RATE_LIMITED and SERVICE_UNAVAILABLE. */
    open: async (caller: Reader, signal: AbortSignal): Promise<Readable> => {
      ensureRoom(streams, { caller, limits });
      const output = new Readable({ read: () => {}, highWaterMark: limits.unreadBytes });
      const stream = { caller, output };
      streams.add(stream);
      output.once('close', () => streams.delete(stream));
      signal.addEventListener('abort', () => end(stream), { once: true });
      if (reading === null) void read();
      await reading?.begun;
      // What changes from here on is sent.
      if (signal.aborted) end(stream);
      else send(stream, ':\n\n');
      return output;
    },
  };
}

function ensureRoom(streams: ReadonlySet<Stream>, { caller, limits }: { caller: Reader; limits: typeof LIMITS }): void {
  if (streams.size >= limits.ofProcess) throw serviceUnavailable('Too many pages are open. Read in intervals instead.');
  const ofUser = [...streams].filter((stream) => stream.caller.userId === caller.userId).length;
  if (ofUser < limits.ofUser) return;
  const message = `You have ${ofUser} pages open that show changes at once, which is the limit. Close one of them.`;
  throw new AppError('RATE_LIMITED', message, { headers: { 'Retry-After': '15' } });
}

/** The merchants whose changes are read; null: all. */
function merchantIdsOf(streams: ReadonlySet<Stream>): string[] | null {
  const callers = [...streams].map(({ caller }) => caller);
  if (callers.some(({ kind }) => kind === 'operator')) return null;
  return [...new Set(callers.flatMap((caller) => (caller.kind === 'user' ? [caller.merchantId] : [])))];
}

/** Streams whose session has ended, is of another merchant or role since, or no longer reads live. */
async function findUnusable({ db, clock }: Pick<Deps, 'db' | 'clock'>, streams: readonly Stream[]): Promise<Stream[]> {
  const callers = streams.map(({ caller }) => caller);
  const idsOf = (some: Reader[]): string[] => [...new Set(some.map(({ sessionId }) => sessionId))];
  const ids = idsOf(callers);
  const liveIds = idsOf(callers.filter(({ kind, environment }) => kind === 'user' && environment === 'live'));
  const at = clock();
  const usable = new Map((await findUsableSessions(db, { ids, liveIds }, at)).map((session) => [session.id, session]));
  return streams.filter(({ caller }) => {
    const session = usable.get(caller.sessionId);
    if (caller.kind === 'operator') return session?.operatorRole !== caller.role;
    const isSame = session?.merchantId === caller.merchantId && session.role === caller.role;
    return !isSame || (caller.environment === 'live' && whyNotLive(session, 'transactions:read', at) !== null);
  });
}

type Message = { kind: ChangeKind; id: string | null; status: string | null; at: Date }[];

/** The changes that a caller may see. Every role of operators reads the lists of all merchants. */
function messageOf(changes: readonly Change[], caller: Reader): Message {
  const own = changes.filter(
    ({ merchantId, environment }) =>
      environment === caller.environment && (caller.kind === 'operator' || merchantId === caller.merchantId),
  );
  return (Object.keys(CHANGE_SCOPES) as ChangeKind[]).flatMap((kind): Message => {
    if (caller.kind === 'user' && !caller.scopes.includes(CHANGE_SCOPES[kind])) return [];
    const ofKind = own.filter((change) => change.kind === kind);
    const [newest] = ofKind;
    if (newest && ofKind.length > IDS_MAX) return [{ kind, id: null, status: null, at: newest.at }];
    return ofKind.map(({ id, status, at }) => ({ kind, id, status, at }));
  });
}

type RouteDeps = { streams: Streams };

/** The stream by which a page knows that what it shows has changed. */
export function streamRoutes({ streams }: RouteDeps): Route[] {
  return [
    readRoute('GET /api/portal/stream', {
      tag: 'Portal',
      auth: { by: 'member', permission: 'transactions:read' },
      operationId: 'streamChanges',
      summary: 'Server-sent events: what changes in this environment, from now on',
      description:
        'Each message is a list of `{ kind, id, status, at }`; `kind` is transaction, withdrawal, settlement or event (of webhooks), as far as the role may read it. `id` is null where too many have changed at once. At most 5 streams a person; a stream ends with its session, and one of live when the session may no longer use live.',
      responses: { 200: z.string() },
      fileTypes: ['text/event-stream'],
      handle: async ({ caller, signal }) => ({ events: await streams.open(caller, signal()) }),
    }),
  ];
}

/** The same of the console, for all merchants. */
export function operatorStreamRoutes({ streams }: RouteDeps): Route[] {
  return [
    operatorReadRoute('GET /api/ops/stream', {
      operationId: 'opsStreamChanges',
      summary: 'Server-sent events: what changes in an environment, of all merchants, from now on',
      description:
        'For people who are signed in at the console, not for keys. Each message is a list of `{ kind, id, status, at }`; `kind` is transaction, withdrawal, settlement or event (of webhooks). `id` is null where too many have changed at once. At most 5 streams a person; a stream ends with its session.',
      query: InEnvironment,
      responses: { 200: z.string() },
      fileTypes: ['text/event-stream'],
      handle: async ({ caller, query: { environment }, signal }) => {
        if ('keyId' in caller) {
          throw new AppError(
            'INSUFFICIENT_SCOPE',
            'Streams are for people signed in at the console. Read in intervals.',
          );
        }
        return { events: await streams.open({ ...caller, environment }, signal()) };
      },
    }),
  ];
}
