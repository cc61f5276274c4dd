import fc from 'fast-check';

import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { whyUnusable, type ChannelFacts } from '../../src/merchants/channels/channel.ts';
import { setChannelApproval } from '../../src/merchants/channels/operations.ts';
import { listChannels, readLimits, type LimitsJson } from '../../src/merchants/channels/queries.ts';
import { channelRoutes } from '../../src/merchants/channels/routes.ts';
import { buildAttempt, buildMerchant, buildSession, buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';
import { until } from '../support/until.ts';

describe('channels', () => {
  let database: TestDatabase;
  let fixture: Fixture;
  let scope: MerchantScope;
  let server: TestServer;

  beforeAll(async () => {
    database = await createTestDatabase();
    fixture = buildFixture(database.db);
  });
  beforeEach(async () => {
    scope = await buildMerchant(database.db);
    server = await startTestServer(
      testServerDeps(database.db, { routes: channelRoutes(fixture) }),
      stubKey(scope.merchantId),
    );
  });
  afterEach(() => server.close());
  afterAll(() => database.drop());

  const list = async () => (await server.send('GET', '/api/checkout/channels')).body.data;
  const turn = (channel: string, enabled: boolean) =>
    server.send('PATCH', `/api/checkout/channels/${channel}`, { body: { enabled } });

  test('all are listed in order with their limits, M-Pesa as coming soon', async () => {
    const channels = await list();
    expect(channels.map((one: { channel: string }) => one.channel)).toEqual(['TELEBIRR', 'CBE_BIRR', 'AWASH', 'MPESA']);
    expect(channels[0]).toEqual({
      channel: 'TELEBIRR',
      transactionThrough: 'telebirr',
      displayName: 'telebirr',
      platformState: 'AVAILABLE',
      approval: 'APPROVED',
      enabled: true,
      usable: true,
      reason: null,
      maintenance: null,
      limits: {
        currency: 'ETB',
        payIn: { min: 1, max: 75_000, daily: null },
        payOut: { min: 1, max: 75_000, daily: 750_000 },
      },
    });
    expect(channels[3]).toMatchObject({ usable: false, enabled: false, reason: 'COMING_SOON' });
  });

  test('limits equal effective_limits: own rules before the platform, and in live the tier where it is lower', async () => {
    const merchants = [scope, await buildMerchant(database.db), await buildMerchant(database.db)];
    const [, withRules, verified] = merchants;
    for (const [version, ago] of [
      [1, '2 days'],
      [2, '1 day'],
      [3, '-1 day'],
    ] as const) {
      await rows(
        database.db,
        `INSERT INTO limit_rule (id, merchant_id, channel, direction, min_santim, max_santim, daily_santim, valid_from, version)
         SELECT 'lim_' || d || :version, :merchantId, 'TELEBIRR', d, 100 * :version, 200000 * :version, NULL,
                now() - CAST(:ago AS interval), :version
         FROM unnest(ARRAY['PAY_IN', 'PAY_OUT']) d`,
        { merchantId: withRules?.merchantId, version, ago },
      );
    }
    await rows(
      database.db,
      `INSERT INTO kyc_application (merchant_id, environment, status, tier) VALUES (:merchantId, 'live', 'APPROVED', 1)`,
      { merchantId: verified?.merchantId },
    );
    for (const { merchantId } of merchants) {
      for (const environment of ['sandbox', 'live'] as const) {
        const found = await listChannels(database.db, { merchantId, environment }, fixture.findProvider);
        for (const { channel, payIn, payOut } of found) {
          const [expected] = await rows<Record<'in' | 'out', LimitsJson>>(
            database.db,
            `SELECT effective_limits(:merchantId, :environment, :channel, 'PAY_IN', now()) AS in,
                    effective_limits(:merchantId, :environment, :channel, 'PAY_OUT', now()) AS out`,
            { merchantId, environment, channel },
          );
          expect({ in: payIn, out: payOut }).toEqual({
            in: expected && readLimits(expected.in),
            out: expected && readLimits(expected.out),
          });
        }
      }
    }
    const own = await listChannels(database.db, withRules ?? scope, fixture.findProvider);
    expect(own[0]?.payIn).toEqual({ minSantim: 200n, maxSantim: 400_000n, dailySantim: null });
  });

  test('M-Pesa cannot be switched on', async () => {
    const answer = await turn('MPESA', true);
    expect([answer.status, answer.body.error.code]).toEqual([403, 'CHANNEL_NOT_AVAILABLE']);
  });

  test('a disabled channel rejects new attempts until it is enabled; attempts in flight continue', async () => {
    const before = await buildSession(fixture, scope);
    const attemptId = await buildAttempt(fixture, { ...scope, sessionId: before.sessionId });
    expect((await turn('TELEBIRR', false)).body.data).toMatchObject({
      enabled: false,
      usable: false,
      reason: 'DISABLED',
    });
    expect(await fixture.checkAttempt(attemptId, { notifyWorkflow: false })).toMatchObject({ outcomeKind: 'accepted' });
    const { sessionId } = await buildSession(fixture, scope);
    await expect(buildAttempt(fixture, { ...scope, sessionId })).rejects.toMatchObject({ code: 'CHANNEL_DISABLED' });
    await turn('TELEBIRR', true);
    await turn('TELEBIRR', true);
    const { sessionId: next } = await buildSession(fixture, scope);
    expect(await buildAttempt(fixture, { ...scope, sessionId: next })).toMatch(/^pat_/);
  });

  const approvalIs = (approval: string, environment = 'sandbox') =>
    rows(
      database.db,
      `INSERT INTO merchant_channel (merchant_id, environment, channel, approval)
       VALUES (:merchantId, :environment, 'AWASH', :approval)
       ON CONFLICT (merchant_id, environment, channel) DO UPDATE SET approval = excluded.approval, enabled = false`,
      { merchantId: scope.merchantId, environment, approval },
    );

  test('a suspended channel can be neither enabled nor requested', async () => {
    await approvalIs('SUSPENDED');
    const answer = await turn('AWASH', true);
    expect([answer.status, answer.body.error.code]).toEqual([403, 'CHANNEL_NOT_AVAILABLE']);
    expect(answer.body.message).toContain("only the platform's operators can approve it again");
    expect((await turn('AWASH', false)).status).toBe(200);
    expect((await list())[2]).toMatchObject({ approval: 'SUSPENDED', reason: 'NOT_APPROVED', enabled: false });
  });

  test.each([false, true])('a toggle to %s at the same time as a suspension leaves it suspended', async (enabled) => {
    if (enabled) await approvalIs('APPROVED');
    const { toggled } = await fixture.runInTransaction(async (tx) => {
      await setChannelApproval({ ...fixture, tx }, { ...scope, channel: 'AWASH' }, 'SUSPENDED');
      const toggling = turn('AWASH', enabled);
      const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      await until('the toggle to wait', async () => (await rows(database.db, waiting)).length > 0);
      return { toggled: toggling };
    });
    expect((await toggled).body.data).toMatchObject({ approval: 'SUSPENDED', enabled: !enabled });
    expect((await list())[2]).toMatchObject({ approval: 'SUSPENDED', reason: 'NOT_APPROVED' });
  });

  describe('in live', () => {
    const live = async (channel: string, enabled: boolean) =>
      server.send('PATCH', `/api/checkout/channels/${channel}`, {
        key: stubKey(scope.merchantId, 'live'),
        body: { enabled },
      });

    test('enabling an unapproved channel requests it once; disabling it cancels the request', async () => {
      const asked = await live('AWASH', true);
      expect([asked.status, asked.body.message]).toEqual([
        202,
        'Channel AWASH is requested: once it is APPROVED, switch it on',
      ]);
      expect(asked.body.data).toMatchObject({ approval: 'REQUESTED', enabled: false, reason: 'NOT_APPROVED' });
      const since = 'SELECT updated_at FROM merchant_channel WHERE merchant_id = :merchantId AND environment = :place';
      const before = await rows(database.db, since, { ...scope, place: 'live' });
      expect((await live('AWASH', true)).status).toBe(202);
      expect(await rows(database.db, since, { ...scope, place: 'live' })).toEqual(before);
      const back = await live('AWASH', false);
      expect([back.status, back.body.data.approval]).toEqual([200, 'NONE']);
      expect((await live('MPESA', true)).status).toBe(403);
    });

    test('a request is cancelled while the channel is unavailable on the platform', async () => {
      await live('CBE_BIRR', true);
      const platform = (state: string) =>
        rows(database.db, "UPDATE channel SET platform_state = :state WHERE id = 'CBE_BIRR'", { state });
      await platform('MAINTENANCE');
      try {
        expect((await live('CBE_BIRR', true)).status).toBe(403);
        const { status, body } = await live('CBE_BIRR', false);
        expect([status, body.data.approval, body.message]).toEqual([200, 'NONE', 'Channel CBE_BIRR is off']);
      } finally {
        await platform('AVAILABLE');
      }
    });

    test('an approved channel is enabled by the merchant', async () => {
      await rows(
        database.db,
        `INSERT INTO kyc_application (merchant_id, environment, status, tier, submissions)
         VALUES (:merchantId, 'live', 'APPROVED', 2, 1)`,
        scope,
      );
      await live('AWASH', true);
      await approvalIs('APPROVED', 'live');
      const { status, body } = await live('AWASH', true);
      expect([status, body.data]).toEqual([200, expect.objectContaining({ enabled: true, usable: true })]);
    });
  });

  test('in the sandbox enabling an unapproved channel approves and enables it at once', async () => {
    await approvalIs('NONE');
    const { status, body } = await turn('AWASH', true);
    expect([status, body.data]).toEqual([
      200,
      expect.objectContaining({ approval: 'APPROVED', enabled: true, usable: true }),
    ]);
  });

  test('a toggle changes one merchant and one environment', async () => {
    const other = await buildMerchant(database.db);
    await turn('CBE_BIRR', false);
    const { body } = await server.send('GET', '/api/checkout/channels', { key: stubKey(other.merchantId) });
    expect(body.data[1]).toMatchObject({ enabled: true });
  });

  test('a channel is usable only when platform, provider, approval, KYC tier and toggle all allow it and its provider responds', () => {
    const facts: fc.Arbitrary<ChannelFacts> = fc.record({
      platformState: fc.constantFrom('AVAILABLE', 'COMING_SOON', 'MAINTENANCE'),
      approval: fc.constantFrom('NONE', 'REQUESTED', 'APPROVED', 'SUSPENDED'),
      enabled: fc.boolean(),
      configured: fc.boolean(),
      tierAllows: fc.boolean(),
      unavailable: fc.boolean(),
    });
    fc.assert(
      fc.property(facts, (one) => {
        const byPlatform = one.platformState === 'AVAILABLE' && one.configured && one.approval === 'APPROVED';
        return (whyUnusable(one) === null) === (byPlatform && one.tierAllows && one.enabled && !one.unavailable);
      }),
    );
  });
});
