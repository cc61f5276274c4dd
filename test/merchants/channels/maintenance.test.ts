import { HOUR_MS } from '../../../src/lib/dates.ts';
import { rows, type Queryable } from '../../../src/lib/db.ts';
import type { MerchantScope } from '../../../src/lib/scope.ts';
import { listChannels } from '../../../src/merchants/channels/queries.ts';
import { channelRoutes } from '../../../src/merchants/channels/routes.ts';
import { checkoutRoutes } from '../../../src/payments/session-routes.ts';
import { createWithdrawal } from '../../../src/payouts/withdrawals/create.ts';
import { runCli, startBackOffice, type BackOffice } from '../../backoffice/back-office.ts';
import { buildMerchant, buildPendingPayment, buildSession, PAID, stateOfSession } from '../../support/build.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../../support/http.ts';
import { fund } from '../../support/withdrawals.ts';

let backOffice: BackOffice;
let scope: MerchantScope;
let merchants: TestServer;

beforeAll(async () => {
  backOffice = await startBackOffice();
  const { fixture, database } = backOffice;
  scope = await buildMerchant(database.db);
  const routes = [...channelRoutes(fixture), ...checkoutRoutes(fixture)];
  merchants = await startTestServer(testServerDeps(database.db, { routes }), stubKey(scope.merchantId));
});
afterEach(() =>
  rows(backOffice.database.db, `UPDATE channel_maintenance SET cancelled_at = now(), cancelled_by = 'x'`),
);
afterAll(async () => {
  await merchants.close();
  await backOffice.close();
});

const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();
const plan = (body: object = {}, channel = 'TELEBIRR') =>
  backOffice.send('POST', `/api/ops/channels/${channel}/maintenance`, {
    body: { environment: 'sandbox', endsAt: inHours(1), reason: 'New switch', ...body },
  });
const cancel = (maintenanceId: string) =>
  backOffice.send('POST', `/api/ops/channels/maintenance/${maintenanceId}/cancel`, { body: {} });
const channelOf = async (channel = 'TELEBIRR', environment: 'sandbox' | 'live' = 'sandbox') => {
  const { body } = await merchants.send('GET', '/api/checkout/channels', {
    key: stubKey(scope.merchantId, environment),
  });
  return body.data.find((one: { channel: string }) => one.channel === channel);
};

describe('while a maintenance window is open', () => {
  test('its channel alone is under maintenance, in its environment alone, with its end and reason', async () => {
    const { status, body } = await plan({ reasonAm: 'አዲስ መሣሪያ' });
    expect([status, body.data.state]).toEqual([201, 'OPEN']);
    const { startsAt, endsAt } = body.data;
    expect(await channelOf()).toMatchObject({
      platformState: 'MAINTENANCE',
      usable: false,
      reason: 'MAINTENANCE',
      maintenance: { startsAt, endsAt, reason: 'New switch', reasonAm: 'አዲስ መሣሪያ' },
    });
    expect(await channelOf('CBE_BIRR')).toMatchObject({ platformState: 'AVAILABLE', usable: true, maintenance: null });
    expect(await channelOf('TELEBIRR', 'live')).toMatchObject({ platformState: 'AVAILABLE', maintenance: null });
  });

  test('a payment is rejected with the end of the window and Retry-After, and the session stays open', async () => {
    const { sessionId } = await buildSession(backOffice.fixture, scope);
    const endsAt = (await plan()).body.data.endsAt;
    const body = { channel: 'TELEBIRR', phone: '0911000001' };
    const refused = await merchants.send('POST', `/api/checkout/sessions/${sessionId}/pay`, { body });
    expect([refused.status, refused.body.error.code, refused.body.message]).toEqual([
      403,
      'CHANNEL_NOT_AVAILABLE',
      `channel TELEBIRR is under maintenance until ${endsAt}; try again then`,
    ]);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(3_590);
    expect(seconds).toBeLessThanOrEqual(3_600);
    expect(await stateOfSession(backOffice.database.db, sessionId)).toMatchObject({ session: 'OPEN', attempts: null });
  });

  test('a payment in flight is queried and completed', async () => {
    const { fixture, database } = backOffice;
    const { attemptId, sessionId } = await buildPendingPayment(fixture, scope);
    await plan();
    fixture.provider.returns(PAID);
    await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
    expect(await stateOfSession(database.db, sessionId)).toMatchObject({ session: 'COMPLETED' });
  });

  test('a session may name another channel, not this one; by default it has both, so that this one returns', async () => {
    await plan();
    const create = (more: object = {}) =>
      merchants.send('POST', '/api/checkout/sessions', {
        body: { checkoutOrderNo: `M-${Math.random()}`, amount: 10, currency: 'ETB', ...more },
      });
    const named = await create({ channels: ['CBE_BIRR', 'TELEBIRR'] });
    expect([named.status, named.body.error.details[0].field]).toEqual([403, 'channels.1']);
    expect(named.headers.get('retry-after')).not.toBeNull();
    const { sessionId } = (await create()).body.data;
    const [session] = await rows<{ channels: string[] }>(
      backOffice.database.db,
      'SELECT channels FROM checkout_session WHERE id = :sessionId',
      { sessionId },
    );
    expect(session?.channels).toEqual(['TELEBIRR', 'CBE_BIRR', 'AWASH']);
  });

  test('a withdrawal on the channel is rejected with the end of the window, and accepted after it', async () => {
    const { fixture } = backOffice;
    await fund(fixture, scope, 1_000_00n);
    const request = (requestId: string) =>
      fixture.runInTransaction((tx) =>
        createWithdrawal({ ...fixture, tx }, scope, {
          requestId,
          amountSantim: 100_00n,
          channel: 'TELEBIRR',
          requestedBy: 'key_test',
          destination: { kind: 'phone', phone: '251911000001', accountName: 'Abebe Kebede' },
        }),
      );
    const { maintenanceId, endsAt } = (await plan()).body.data;
    await expect(request('W-1')).rejects.toMatchObject({
      code: 'CHANNEL_NOT_AVAILABLE',
      message: `channel TELEBIRR is under maintenance until ${endsAt}; try again then`,
      headers: { 'Retry-After': expect.stringMatching(/^3[56]\d\d$/) },
    });
    await cancel(maintenanceId);
    expect((await request('W-1')).isNew).toBe(true);
  });
});

test('a window is open from its start on and over at its end, by the clock of the database, wherever it applies', async () => {
  const { database, fixture } = backOffice;
  const { maintenanceId: id } = (await plan({ startsAt: inHours(1), endsAt: inHours(2) })).body.data;
  const at = (startsAt: string, endsAt: string) =>
    database.db.transaction(async (trx) => {
      await rows(trx, `UPDATE channel_maintenance SET starts_at = ${startsAt}, ends_at = ${endsAt} WHERE id = :id`, {
        id,
      });
      const [listed] = await listChannels(trx, scope, fixture.findProvider);
      return [listed?.platformState, await stateBySql(trx)];
    });
  const second = "interval '1 second'";
  const microsecond = "interval '1 microsecond'";
  expect(await at(`now() + ${microsecond}`, `now() + ${second}`)).toEqual(['AVAILABLE', 'AVAILABLE']);
  expect(await at('now()', `now() + ${second}`)).toEqual(['MAINTENANCE', 'MAINTENANCE']);
  expect(await at(`now() - ${second}`, `now() + ${microsecond}`)).toEqual(['MAINTENANCE', 'MAINTENANCE']);
  expect(await at(`now() - ${second}`, 'now()')).toEqual(['AVAILABLE', 'AVAILABLE']);
});

/** As withdrawals have it. */
async function stateBySql(db: Queryable): Promise<string | undefined> {
  const sql = `SELECT channel_state(:merchantId, :environment, 'TELEBIRR')->>'platformState' AS state`;
  return (await rows<{ state: string }>(db, sql, scope))[0]?.state;
}

test('the next window is announced, the one that is open before it', async () => {
  const later = (await plan({ startsAt: inHours(5), endsAt: inHours(6) })).body.data;
  expect(later.state).toBe('PLANNED');
  expect(await channelOf()).toMatchObject({ usable: true, maintenance: { startsAt: later.startsAt } });
  const { startsAt } = (await plan({ endsAt: later.startsAt })).body.data;
  expect(await channelOf()).toMatchObject({ usable: false, maintenance: { startsAt } });
});

describe('a maintenance window', () => {
  const soon = inHours(2);
  test.each([
    ['that starts in the past', { startsAt: inHours(-1) }, 'startsAt must not be in the past', 'in_the_past'],
    [
      'over a year ahead',
      { startsAt: inHours(24 * 367), endsAt: inHours(24 * 368) },
      'startsAt must be at most 366 days ahead',
      'too_far_ahead',
    ],
    ['without length', { startsAt: soon, endsAt: soon }, 'endsAt must be after the start', 'ends_before_start'],
    ['that ends in the past', { endsAt: inHours(-1) }, 'endsAt must be after the start', 'ends_before_start'],
    [
      'of over 30 days',
      { startsAt: inHours(1), endsAt: inHours(24 * 30 + 2) },
      'endsAt must be at most 30 days after the start',
      'range_too_wide',
    ],
    ['with a word for its end', { endsAt: 'tomorrow' }, 'endsAt must be a valid datetime', 'wrong_format'],
    ['with a reason of 201 characters', { reason: 'x'.repeat(201) }, 'reason', 'too_long'],
  ])('%s is rejected', async (...[, body, message, code]) => {
    const { status, body: answer } = await plan(body);
    expect([status, answer.error.code, answer.message]).toEqual([
      400,
      'VALIDATION_ERROR',
      expect.stringContaining(message),
    ]);
    expect(answer.error.details).toMatchObject([{ code }]);
  });

  test('that overlaps another of the channel is rejected, however many are planned at once; one that follows is not', async () => {
    const span = { startsAt: inHours(10), endsAt: inHours(12) };
    const answers = await Promise.all([1, 2, 3, 4].map(() => plan(span, 'AWASH')));
    const [planned, ...others] = answers.toSorted((a, b) => a.status - b.status);
    expect([planned?.status, others.map(({ status }) => status)]).toEqual([201, [409, 409, 409]]);
    const { maintenanceId } = planned?.body.data ?? {};
    const refused = await plan({ startsAt: inHours(11), endsAt: inHours(13) }, 'AWASH');
    expect(refused.body.error).toMatchObject({
      code: 'DUPLICATE_REFERENCE',
      details: [{ field: 'startsAt', code: 'overlaps' }],
      existing: { maintenanceId },
    });
    expect((await plan({ startsAt: span.endsAt, endsAt: inHours(13) }, 'AWASH')).status).toBe(201);
    expect((await plan({ ...span, environment: 'live' }, 'AWASH')).status).toBe(201);
    await cancel(maintenanceId);
    expect((await plan(span, 'AWASH')).status).toBe(201);
  });

  test('that is cancelled never opens; one that is open ends at once, once; each change has an audit row', async () => {
    const planned = (await plan({ startsAt: inHours(20), endsAt: inHours(21) })).body.data.maintenanceId;
    expect((await cancel(planned)).body.data.state).toBe('CANCELLED');
    const open = (await plan()).body.data.maintenanceId;
    const ended = await cancel(open);
    expect([ended.body.message, ended.body.data.state]).toEqual(['Maintenance of TELEBIRR (sandbox) is ended', 'OVER']);
    expect(await channelOf()).toMatchObject({ usable: true, maintenance: null });
    expect((await cancel(open)).body.data).toEqual(ended.body.data);
    for (const id of [planned, open]) {
      expect(await backOffice.audited(id)).toEqual(['channel.plan-maintenance', 'channel.cancel-maintenance']);
    }
    await rows(
      backOffice.database.db,
      `UPDATE channel_maintenance SET cancelled_at = NULL, cancelled_by = NULL, starts_at = now() - interval '2 hours',
         ends_at = now() - interval '1 hour' WHERE id = :open`,
      { open },
    );
    expect((await cancel(open)).body.error.code).toBe('INVALID_STATE');
    expect((await cancel('mnt_none')).status).toBe(404);
  });

  test('is planned, listed and ended on the command line', async () => {
    const words = ['--environment', 'live', '--ends-at', inHours(3), '--reason', 'Planned work'];
    const planned = await runCli(backOffice, ['channels', 'plan-maintenance', 'CBE_BIRR', ...words, '--json']);
    expect(planned.exitCode).toBe(0);
    const { maintenanceId } = JSON.parse(planned.text);
    const listed = await runCli(backOffice, ['channels', 'list-maintenance', '--channel', 'CBE_BIRR']);
    expect(listed.text).toMatch(new RegExp(`${maintenanceId} +CBE_BIRR +live +OPEN +Planned work`));
    const ended = await runCli(backOffice, ['channels', 'cancel-maintenance', maintenanceId]);
    expect([ended.exitCode, ended.text]).toEqual([0, expect.stringContaining('OVER')]);
  });

  test('is listed for every operator, the latest first, and planned by admins alone', async () => {
    const { key } = backOffice.people.support;
    await plan({ startsAt: inHours(40), endsAt: inHours(41) });
    const { body } = await backOffice.send('GET', '/api/ops/channels/maintenance?channel=TELEBIRR&limit=1', { key });
    expect(body.data).toEqual([expect.objectContaining({ channel: 'TELEBIRR', state: 'PLANNED' })]);
    expect(body.pagination.total).toBeGreaterThan(1);
    const refused = await backOffice.send('POST', '/api/ops/channels/AWASH/maintenance', { key, body: {} });
    expect(refused.body.error.code).toBe('INSUFFICIENT_SCOPE');
  });
});
