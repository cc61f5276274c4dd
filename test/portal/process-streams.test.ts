import { once } from 'node:events';
import type { Readable } from 'node:stream';

import { ROLES } from '../../src/access/users/roles.ts';
import type { MemberRole } from '../../src/http/people.ts';
import type { UserCaller } from '../../src/http/route.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createStreams } from '../../src/portal/streams.ts';
import { buildFixture, buildSession, type Fixture } from '../support/build.ts';
import { until } from '../support/until.ts';
import { buildFreeMerchant, buildLive, fund } from '../support/withdrawals.ts';
import { usePortalService } from './portal.ts';

const portal = usePortalService();
let fixture: Fixture;
let scope: MerchantScope;

beforeAll(async () => {
  fixture = buildFixture(portal.db, { clock: () => new Date() });
  scope = { merchantId: await portal.newMerchant('Abyssinia Coffee'), environment: 'sandbox' };
});

const callerOf = (role: MemberRole, environment = scope.environment): UserCaller => ({
  kind: 'user',
  merchantId: scope.merchantId,
  environment,
  userId: newId('usr'),
  sessionId: newId('ses'),
  role,
  ...ROLES[role],
});
const deps = () => ({ db: portal.db, clock: () => new Date(), log: createLogger('silent', 'test') });
const ended = async (stream: Readable): Promise<void> => {
  stream.resume();
  await once(stream, 'close');
};

test('a stream beyond the limit of the process is 503, and all end when their callers leave', async () => {
  const streams = createStreams(deps(), { ofUser: 5, ofProcess: 2, unreadBytes: 65_536 });
  const leaving = new AbortController();
  const open = await Promise.all([1, 2].map(() => streams.open(callerOf('owner'), leaving.signal)));
  await expect(streams.open(callerOf('owner'), leaving.signal)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
  });
  leaving.abort();
  await Promise.all(open.map(ended));
});

test('a stream of live has nothing of the sandbox', async () => {
  const streams = createStreams(deps());
  const leaving = new AbortController();
  const open = (['live', 'sandbox'] as const).map((environment) => callerOf('owner', environment));
  const texts = ['', ''];
  for (const [index, caller] of open.entries()) {
    (await streams.open(caller, leaving.signal)).on('data', (part: Buffer) => (texts[index] += part.toString()));
  }
  const { transactionId } = await buildSession(fixture, scope);
  await until('the change in the sandbox', () => texts[1]?.includes(transactionId));
  expect(texts[0]).toBe(':\n\n');
  leaving.abort();
});

test('a reader that does not read is cut off, and others are not', async () => {
  const streams = createStreams(deps(), { ofUser: 5, ofProcess: 2, unreadBytes: 200 });
  const leaving = new AbortController();
  // Their sessions are looked up only after the changes below.
  const [slow, other] = await Promise.all([1, 2].map(() => streams.open(callerOf('owner'), leaving.signal)));
  let received = '';
  other?.on('data', (part: Buffer) => (received += part.toString()));
  const sessions = await Promise.all([1, 2, 3, 4].map(() => buildSession(fixture, scope)));
  await until('the slow reader to be cut off', () => slow?.destroyed === true);
  await until('all changes', () => sessions.every(({ transactionId }) => received.includes(transactionId)));
  leaving.abort();
});

test('a stream of live ends when its session may no longer read live, and one of the sandbox does not', async () => {
  const streams = createStreams(deps());
  const leaving = new AbortController();
  const open = async (sql: string) => {
    const own = await buildFreeMerchant(fixture);
    await buildLive(portal.db, own);
    await fund(fixture, own, 100_00n);
    const { email } = await portal.confirmed(own.merchantId, 'owner');
    const find = `SELECT s.id AS session_id, s.user_id FROM user_session s JOIN user_account u ON u.id = s.user_id
                  WHERE u.email = :email`;
    const [session] = await rows<{ sessionId: string; userId: string }>(portal.db, find, { email });
    const as = (environment: 'live' | 'sandbox') =>
      streams.open({ ...callerOf('owner', environment), ...own, environment, ...session }, leaving.signal);
    const [live, sandbox] = [(await as('live')).resume(), (await as('sandbox')).resume()];
    return { live, sandbox, end: () => rows(portal.db, sql, { ...own, ...session }) };
  };
  const opened = [
    await open("UPDATE user_session SET live_until = now() - interval '1 s' WHERE id = :sessionId"),
    await open('UPDATE user_account SET totp_enabled_at = NULL WHERE id = :userId'),
    await open("UPDATE kyc_application SET status = 'REJECTED', tier = 0 WHERE merchant_id = :merchantId"),
  ];
  let checks = 0;
  const count = ({ sql }: { sql: string }): void => void (checks += sql.includes('live_until') ? 1 : 0);
  portal.db.events.on('statement', count);
  // The second one begins after the first one has ended streams.
  await until('two checks of the sessions', () => checks > 1);
  portal.db.events.off('statement', count);
  expect(opened.map(({ live }) => live.closed)).toEqual([false, false, false]);
  for (const { end } of opened) await end();
  await until('the end of the streams of live', () => opened.every(({ live }) => live.closed));
  expect(opened.map(({ sandbox }) => sandbox.closed)).toEqual([false, false, false]);
  leaving.abort();
});
