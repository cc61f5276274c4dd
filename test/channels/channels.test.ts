import fc from 'fast-check';

import { whyUnusable, type ChannelFacts } from '../../src/channels/channel.ts';
import { channelRoutes } from '../../src/channels/routes.ts';
import { rows } from '../../src/lib/db.ts';
import type { Owner } from '../../src/lib/owner.ts';
import { buildAttempt, buildMerchant, buildSession, buildWorld, type World } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';

describe('channels', () => {
  let database: TestDatabase;
  let world: World;
  let owner: Owner;
  let server: TestServer;

  beforeAll(async () => {
    database = await createTestDatabase();
    world = buildWorld(database.db);
  });
  beforeEach(async () => {
    owner = await buildMerchant(database.db);
    server = await startTestServer(
      testServerDeps(database.db, { routes: channelRoutes(world) }),
      stubKey(owner.merchantId),
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
      limits: {
        currency: 'ETB',
        payIn: { min: 1, max: 75_000, daily: null },
        payOut: { min: 1, max: 75_000, daily: 750_000 },
      },
    });
    expect(channels[3]).toMatchObject({ usable: false, enabled: false, reason: 'COMING_SOON' });
  });

  test('M-Pesa cannot be switched on', async () => {
    const answer = await turn('MPESA', true);
    expect([answer.status, answer.body.error.code]).toEqual([403, 'CHANNEL_NOT_AVAILABLE']);
  });

  test('a channel switched off takes no new attempts, and does again once it is on; what is in flight goes on', async () => {
    const before = await buildSession(world, owner);
    const attemptId = await buildAttempt(world, { ...owner, sessionId: before.sessionId });
    expect((await turn('TELEBIRR', false)).body.data).toMatchObject({
      enabled: false,
      usable: false,
      reason: 'DISABLED',
    });
    expect(await world.checkAttempt(attemptId, { tellWorkflow: false })).toMatchObject({ outcomeKind: 'accepted' });
    const { sessionId } = await buildSession(world, owner);
    await expect(buildAttempt(world, { ...owner, sessionId })).rejects.toMatchObject({ code: 'CHANNEL_DISABLED' });
    await turn('TELEBIRR', true);
    await turn('TELEBIRR', true);
    const { sessionId: next } = await buildSession(world, owner);
    expect(await buildAttempt(world, { ...owner, sessionId: next })).toMatch(/^pat_/);
  });

  test('a merchant without approval cannot switch a channel on', async () => {
    await rows(
      database.db,
      `UPDATE merchant_channel SET approval = 'SUSPENDED', enabled = false WHERE merchant_id = :id`,
      {
        id: owner.merchantId,
      },
    );
    expect((await turn('AWASH', true)).status).toBe(403);
    expect((await list())[2]).toMatchObject({ reason: 'NOT_APPROVED', enabled: false });
  });

  test('one environment or merchant does not switch for another', async () => {
    const other = await buildMerchant(database.db);
    await turn('CBE_BIRR', false);
    const { body } = await server.send('GET', '/api/checkout/channels', { key: stubKey(other.merchantId) });
    expect(body.data[1]).toMatchObject({ enabled: true });
  });

  test('a channel is usable only when platform, provider, approval, KYC tier and toggle all say so', () => {
    const facts: fc.Arbitrary<ChannelFacts> = fc.record({
      platformState: fc.constantFrom('AVAILABLE', 'COMING_SOON', 'MAINTENANCE'),
      approval: fc.constantFrom('NONE', 'REQUESTED', 'APPROVED', 'SUSPENDED'),
      enabled: fc.boolean(),
      configured: fc.boolean(),
      tierAllows: fc.boolean(),
    });
    fc.assert(
      fc.property(facts, (one) => {
        const byPlatform = one.platformState === 'AVAILABLE' && one.configured && one.approval === 'APPROVED';
        return (whyUnusable(one) === null) === (byPlatform && one.tierAllows && one.enabled);
      }),
    );
  });
});
