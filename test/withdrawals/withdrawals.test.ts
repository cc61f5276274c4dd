import { readBalance } from '../../src/ledger/balance.ts';
import { rows } from '../../src/lib/db.ts';
import type { Owner } from '../../src/lib/owner.ts';
import { createCheckPayout, type CheckPayout } from '../../src/withdrawals/check.ts';
import { approveWithdrawal, rejectWithdrawal } from '../../src/withdrawals/decide.ts';
import { withdrawalRoutes } from '../../src/withdrawals/routes.ts';
import { decideInSandbox } from '../../src/withdrawals/sandbox-review.ts';
import { buildWorld, untilServed, type World } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type HttpAnswer, type TestServer } from '../support/http.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import {
  buildFreeMerchant,
  DOUBT,
  fund,
  NOT_THERE,
  PAID_OUT,
  REFUSED,
  REVERSED,
  TAKEN,
} from '../support/withdrawals.ts';

const PATH = '/api/checkout/withdrawal';
const CHECK = { minIntervalMs: 0, tellWorkflow: true };

describe('withdrawals', () => {
  let database: TestDatabase;
  let world: World;
  let owner: Owner;
  let server: TestServer;
  let checkPayout: CheckPayout;
  let requests = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    world = buildWorld(database.db, { clock: () => new Date('2026-03-02T09:00:00.000Z') });
    checkPayout = createCheckPayout(world);
    const deps = testServerDeps(database.db, {
      routes: withdrawalRoutes({ ...world, checkPayout }),
      clock: world.clock,
      runChange: world.runChange,
    });
    server = await startTestServer(deps, stubKey('mrc_none'));
  });
  beforeEach(async () => {
    owner = await buildFreeMerchant(world);
    await fund(world, owner, 1_000_00n);
    world.provider.answersOfPayouts(TAKEN);
    world.provider.askedOfPayouts.length = 0;
  });
  afterEach(() => expectLedgerHolds(database.db));
  afterAll(async () => {
    await server.close();
    await database.drop();
  });

  const body = (changes: object = {}) => ({
    requestId: `W-${(requests += 1)}`,
    amount: 100,
    channel: 'TELEBIRR',
    destination: { phone: '0911000001', accountName: 'Abebe Bikila' },
    ...changes,
  });
  const send = (method: string, path: string, sent?: object, who: Owner = owner): Promise<HttpAnswer> =>
    server.send(method, path, { key: stubKey(who.merchantId), ...(sent && { body: sent }) });
  const ask = (changes: object = {}) => send('POST', PATH, body(changes));
  /** Asked for and through its review. */
  async function ready(changes: object = {}): Promise<string> {
    const { body: answer, status } = await ask(changes);
    expect(status).toBe(202);
    const id: string = answer.data.withdrawalRequestId;
    await decideInSandbox(world, id, world.clock());
    return id;
  }
  const read = async (id: string) => (await send('GET', `${PATH}/${id}`)).body.data;
  const balance = async () => {
    const { availableSantim, reservedSantim } = await readBalance(database.db, owner);
    return [availableSantim, reservedSantim];
  };
  const events = async (id: string) =>
    (
      await rows<{ event: string }>(
        database.db,
        'SELECT event FROM webhook_event WHERE resource_id = :id ORDER BY id',
        {
          id,
        },
      )
    ).map(({ event }) => event);
  const kinds = (row: { timeline: { kind: string }[] }) => row.timeline.map(({ kind }) => kind);

  test('one is asked for, set aside with its fee and tax, reviewed the first time, and started', async () => {
    const { status, body: answer } = await ask();
    expect(status).toBe(202);
    expect(answer.data).toMatchObject({
      amount: 100,
      fee: 5,
      feeTax: 0.75,
      totalDebit: 105.75,
      currency: 'ETB',
      destination: { phone: '********0001', accountName: 'Abebe Bikila' },
      status: 'PENDING',
      stage: 'UNDER_REVIEW',
      reviewReasons: ['FIRST_TO_BENEFICIARY'],
      limitsApplied: { min: 1, max: 75_000, daily: 750_000, usedTodayBefore: 0 },
    });
    const id = answer.data.withdrawalRequestId;
    expect(await balance()).toEqual([894_25n, 105_75n]);
    expect((await events(id)).toSorted()).toEqual(['withdrawal.created', 'withdrawal.under_review']);
    expect(world.told.at(-1)).toMatchObject({ kind: 'start', workflowId: `withdrawal-${id}` });
    expect(JSON.stringify(world.told.at(-1))).not.toMatch(/0911|251911|Abebe/);
  });

  test('it is sent once it is approved, and paid when the provider says so', async () => {
    const id = await ready();
    await checkPayout(id, CHECK);
    expect(await read(id)).toMatchObject({ status: 'PENDING', stage: 'SUBMITTED' });
    world.provider.answersOfPayouts(PAID_OUT);
    await checkPayout(id, CHECK);
    const row = await read(id);
    expect(row).toMatchObject({ status: 'SUCCESS', providerReference: 'OUT-1' });
    expect(row.stage).toBeUndefined();
    expect(kinds(row)).toEqual([
      'withdrawal.created',
      'review.started',
      'review.approved',
      'payout.submitted',
      'provider.answer',
      'payout.succeeded',
    ]);
    expect(await balance()).toEqual([894_25n, 0n]);
    expect(await events(id)).toContain('withdrawal.succeeded');
    expect(world.provider.askedOfPayouts.map(({ question }) => question)).toEqual(['payout', 'queryPayout']);
    const order = world.provider.askedOfPayouts[0]?.order;
    expect(order).toMatchObject({
      orderId: id,
      amountSantim: 100_00n,
      destination: { kind: 'phone', phone: '251911000001' },
    });
  });

  test('what the provider refuses fails, and the money is back with its fee', async () => {
    const id = await ready();
    world.provider.answersOfPayouts(REFUSED);
    await checkPayout(id, CHECK);
    expect(await read(id)).toMatchObject({
      status: 'FAILED',
      failure: { code: 'INVALID_PAYEE', providerCode: 'E404' },
    });
    expect(await balance()).toEqual([1_000_00n, 0n]);
    expect(await events(id)).toContain('withdrawal.failed');
  });

  test('while the provider does not know, nothing is given back, and the same order is sent again only if it was never taken', async () => {
    const id = await ready();
    world.provider.answersOfPayouts(DOUBT);
    await checkPayout(id, CHECK);
    expect(await read(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
    expect(await balance()).toEqual([894_25n, 105_75n]);
    expect((await send('POST', `${PATH}/${id}/cancel`)).status).toBe(409);
    world.provider.answersOfPayouts(NOT_THERE, PAID_OUT);
    await checkPayout(id, CHECK);
    expect(await read(id)).toMatchObject({ status: 'SUCCESS' });
    expect(world.provider.askedOfPayouts.map(({ question }) => question)).toEqual(['payout', 'queryPayout', 'payout']);
    expect(new Set(world.provider.askedOfPayouts.map(({ orderId }) => orderId))).toEqual(new Set([id]));
  });

  test('what comes back after it was paid is the merchant’s again', async () => {
    const id = await ready();
    world.provider.answersOfPayouts(PAID_OUT);
    await checkPayout(id, CHECK);
    world.provider.answersOfPayouts(REVERSED);
    await checkPayout(id, CHECK);
    expect(await read(id)).toMatchObject({
      status: 'REVERSED',
      completedAt: expect.any(String),
      reversedAt: expect.any(String),
    });
    expect(await balance()).toEqual([1_000_00n, 0n]);
    await checkPayout(id, CHECK);
    expect((await events(id)).toSorted()).toEqual([
      'withdrawal.created',
      'withdrawal.reversed',
      'withdrawal.succeeded',
      'withdrawal.under_review',
    ]);
  });

  test('paid and back before anybody asked is both paid and reversed', async () => {
    const id = await ready();
    world.provider.answersOfPayouts(REVERSED);
    await checkPayout(id, CHECK);
    expect(await read(id)).toMatchObject({ status: 'REVERSED' });
    expect((await events(id)).toSorted()).toEqual([
      'withdrawal.created',
      'withdrawal.reversed',
      'withdrawal.succeeded',
      'withdrawal.under_review',
    ]);
    expect(await balance()).toEqual([1_000_00n, 0n]);
  });

  test('another amount paid than told is never taken for success', async () => {
    const id = await ready();
    world.provider.answersOfPayouts({ ...PAID_OUT, amountSantim: 1n });
    await checkPayout(id, CHECK);
    expect(await read(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
  });

  test('fifty checks at once send it once and book it once', async () => {
    const id = await ready();
    world.provider.answersOfPayouts(PAID_OUT);
    await Promise.all(Array.from({ length: 50 }, () => untilServed(() => checkPayout(id, CHECK))));
    expect(world.provider.askedOfPayouts.filter(({ question }) => question === 'payout')).toHaveLength(1);
    expect(await balance()).toEqual([894_25n, 0n]);
    expect((await events(id)).filter((event) => event === 'withdrawal.succeeded')).toHaveLength(1);
  });

  test('the same request again is the same withdrawal, another under its id is refused', async () => {
    const sent = body();
    const first = await send('POST', PATH, sent);
    const again = await send('POST', PATH, sent);
    expect([first.status, again.status]).toEqual([202, 200]);
    expect(again.body.data).toEqual(first.body.data);
    const other = await send('POST', PATH, { ...sent, amount: 101 });
    expect(other.status).toBe(409);
    expect(other.body.error).toMatchObject({
      code: 'DUPLICATE_REFERENCE',
      existing: { withdrawalRequestId: first.body.data.withdrawalRequestId },
    });
    expect(await balance()).toEqual([894_25n, 105_75n]);
  });

  test('one that was not sent can be taken back, twice over; one that was cannot', async () => {
    const { body: answer } = await ask();
    const id = answer.data.withdrawalRequestId;
    for (const _ of [1, 2]) {
      const { status, body: cancelled } = await send('POST', `${PATH}/${id}/cancel`);
      expect({ status, is: cancelled.data.status }).toEqual({ status: 200, is: 'CANCELLED' });
    }
    expect(await balance()).toEqual([1_000_00n, 0n]);
    expect((await events(id)).filter((event) => event === 'withdrawal.canceled')).toHaveLength(1);
    expect((await checkPayout(id, CHECK)).row.status).toBe('CANCELLED');
    expect(world.provider.askedOfPayouts).toEqual([]);
    const sent = await ready();
    await checkPayout(sent, CHECK);
    expect((await send('POST', `${PATH}/${sent}/cancel`)).body.error.code).toBe('INVALID_STATE');
  });

  test('a cancel and a sending at once: one of them wins, and the money follows it', async () => {
    for (let round = 0; round < 20; round += 1) {
      world.provider.answersOfPayouts(PAID_OUT);
      const id = await ready({ amount: 1 + round });
      const [, cancelled] = await Promise.all([checkPayout(id, CHECK), send('POST', `${PATH}/${id}/cancel`)]);
      const { row } = await checkPayout(id, CHECK);
      const taken = world.provider.askedOfPayouts.some(({ orderId }) => orderId === id);
      expect({ cancelled: cancelled.status === 200, taken }).toEqual({
        cancelled: !taken,
        taken: row.status !== 'CANCELLED',
      });
    }
  });

  test('amounts outside the limits are refused with the limit, the value and what is left', async () => {
    const refusal = async (changes: object) => {
      const { status, body: answer } = await ask(changes);
      return { status, code: answer.error.code, message: answer.message };
    };
    expect(await refusal({ amount: 0.5 })).toMatchObject({ status: 422, code: 'AMOUNT_BELOW_MINIMUM' });
    expect(await refusal({ amount: 75_001 })).toMatchObject({
      code: 'AMOUNT_ABOVE_MAXIMUM',
      message: 'amount must be at most 75000.00 ETB on TELEBIRR, got 75001.00',
    });
    expect(await refusal({ amount: 995 })).toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      message: expect.stringContaining('takes 1000.75 ETB with its fee and tax, and 1000.00 ETB are available'),
    });
    await rows(
      database.db,
      `INSERT INTO limit_rule (id, merchant_id, channel, direction, min_santim, max_santim, daily_santim, valid_from, version)
       VALUES (:id, :merchantId, 'TELEBIRR', 'PAY_OUT', 100, 20000, 25000, '2020-01-01T00:00:00Z', 1)`,
      { id: `lim_${owner.merchantId}`, merchantId: owner.merchantId },
    );
    await ready({ amount: 200 });
    expect(await refusal({ amount: 50.01 })).toMatchObject({
      code: 'DAILY_LIMIT_EXCEEDED',
      message: 'amount must be at most 50.00 ETB, what is left today of 250.00 ETB a day on TELEBIRR, got 50.01',
    });
    const { body: limits } = await send('GET', '/api/checkout/limits');
    expect(limits.data[0]).toMatchObject({
      channel: 'TELEBIRR',
      payOut: { min: 1, max: 200, daily: 250, remainingToday: 50 },
    });
  });

  test.each([
    ['three decimals', { amount: 1.001 }, 'amount'],
    ['a negative amount', { amount: -1 }, 'amount'],
    ['nothing', { amount: 0 }, 'amount'],
    ['an amount as text', { amount: '100' }, 'amount'],
    [
      'an unknown bank',
      { destination: { bankCode: 'NOBANK', accountNumber: '1000000001', accountName: 'A' } },
      'destination.bankCode',
    ],
    [
      'an account with letters',
      { destination: { bankCode: 'CBE', accountNumber: '10000x', accountName: 'A' } },
      'destination.accountNumber',
    ],
    [
      'a phone and a bank',
      { destination: { phone: '0911000001', bankCode: 'CBE', accountNumber: '1000000001', accountName: 'A' } },
      'destination',
    ],
    ['no destination', { destination: { accountName: 'A' } }, 'destination'],
    ['a phone of abroad', { destination: { phone: '+447911123456', accountName: 'A' } }, 'destination.phone'],
    ['no name', { destination: { phone: '0911000001' } }, 'destination.accountName'],
    [
      'a line break in the name',
      { destination: { phone: '0911000001', accountName: 'A\nB' } },
      'destination.accountName',
    ],
    ['an unknown channel', { channel: 'PAYPAL' }, 'channel'],
    ['another currency', { currency: 'USD' }, 'currency'],
    ['a requestId with spaces', { requestId: 'a b' }, 'requestId'],
  ])('%s is refused and named, and leaves nothing', async (_what, changes, field) => {
    const { status, body: answer } = await ask(changes);
    expect({ status, field: answer.error.details[0].field }).toEqual({ status: 400, field });
    expect((await send('GET', PATH)).body.pagination.total).toBe(0);
  });

  test('an endless amount is refused', async () => {
    const text = JSON.stringify(body()).replace('"amount":100', '"amount":1e400');
    const { status } = await server.send('POST', PATH, { key: stubKey(owner.merchantId), body: text });
    expect(status).toBe(400);
  });

  test('MPESA is not available, and a channel that is off is refused', async () => {
    expect((await ask({ channel: 'MPESA' })).body.error.code).toBe('CHANNEL_NOT_AVAILABLE');
    await rows(database.db, `UPDATE merchant_channel SET enabled = false WHERE merchant_id = :merchantId`, owner);
    expect((await ask()).body.error.code).toBe('CHANNEL_DISABLED');
  });

  test('of fifty that take everything, exactly one succeeds', async () => {
    const all = { amount: 994.25 };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => untilServed(async () => servedOnly(await ask(all)))),
    );
    const codes = answers.map(({ status, body: answer }) => (status === 202 ? 'made' : answer.error.code));
    expect(codes.toSorted()).toEqual([...Array.from({ length: 49 }, () => 'INSUFFICIENT_BALANCE'), 'made']);
    expect(await balance()).toEqual([0n, 1_000_00n]);
  });

  describe('review', () => {
    const operator = (operatorId: string) => ({ operatorId, at: world.clock() });
    const approve = (id: string, operatorId: string) =>
      world.runChange((change) => approveWithdrawal(change, id, operator(operatorId)));

    test('a second one to the same beneficiary is looked at for two days, then no more', async () => {
      world.provider.answersOfPayouts(PAID_OUT);
      await checkPayout(await ready(), CHECK);
      const second = (await ask({ amount: 10 })).body.data;
      expect(second.reviewReasons).toEqual(['NEW_BENEFICIARY']);
      await rows(
        database.db,
        `UPDATE withdrawal SET requested_at = requested_at - interval '3 days' WHERE merchant_id = :merchantId`,
        owner,
      );
      const third = (await ask({ amount: 10 })).body.data;
      expect({ stage: third.stage, reasons: third.reviewReasons }).toEqual({ stage: 'CREATED', reasons: undefined });
      const renamed = { phone: '0911000001', accountName: 'Somebody Else' };
      expect((await ask({ amount: 10, destination: renamed })).body.data.reviewReasons).toEqual([
        'BENEFICIARY_RENAMED',
      ]);
    });

    test('a large one needs one operator, a very large one two different ones', async () => {
      await rows(
        database.db,
        `INSERT INTO review_policy (merchant_id, large_amount_santim, two_person_santim, per_hour_max)
         VALUES (:merchantId, 10000, 20000, 20)`,
        owner,
      );
      const { body: answer } = await ask({ amount: 200.14 });
      const id = answer.data.withdrawalRequestId;
      expect(answer.data.reviewReasons).toContain('LARGE_AMOUNT');
      await decideInSandbox(world, id, world.clock());
      expect((await approve(id, 'opr_1')).stage).toBe('UNDER_REVIEW');
      await expect(approve(id, 'opr_1')).rejects.toMatchObject({ code: 'INVALID_STATE' });
      expect((await approve(id, 'opr_2')).stage).toBe('CREATED');
      expect(world.told.at(-1)).toMatchObject({ kind: 'signal', signal: 'approved', workflowId: `withdrawal-${id}` });
      await expect(approve(id, 'opr_3')).rejects.toMatchObject({ code: 'INVALID_STATE' });
    });

    test('a rejected one gives the money back and says why', async () => {
      const id = (await ask()).body.data.withdrawalRequestId;
      await world.runChange((change) =>
        rejectWithdrawal(change, id, { ...operator('opr_1'), reason: 'Not a supplier.' }),
      );
      expect(await read(id)).toMatchObject({
        status: 'REJECTED',
        failure: { code: 'REJECTED', message: 'Not a supplier.' },
      });
      expect(await balance()).toEqual([1_000_00n, 0n]);
    });

    test('the sandbox rejects .13, leaves .14 to an operator and approves the rest', async () => {
      const stands = async (amount: number) => {
        const { status, stage } = await read(await ready({ amount }));
        return { status, stage };
      };
      expect(await stands(50.13)).toEqual({ status: 'REJECTED', stage: undefined });
      expect(await stands(50.14)).toEqual({ status: 'PENDING', stage: 'UNDER_REVIEW' });
      expect(await stands(50.15)).toEqual({ status: 'PENDING', stage: 'CREATED' });
    });

    test('who asked for it may not approve it', async () => {
      const id = (await ask()).body.data.withdrawalRequestId;
      await rows(database.db, `UPDATE withdrawal SET requested_by = 'opr_1' WHERE id = :id`, { id });
      await expect(approve(id, 'opr_1')).rejects.toMatchObject({ code: 'INVALID_STATE' });
    });

    test('a suspended merchant’s is not sent', async () => {
      const id = await ready();
      await rows(database.db, `UPDATE merchant SET status = 'SUSPENDED' WHERE id = :merchantId`, owner);
      await checkPayout(id, CHECK);
      expect(world.provider.askedOfPayouts).toEqual([]);
    });
  });

  test('lists narrow by status, channel and search, and show the newest first', async () => {
    const first = await ready({ amount: 10 });
    world.pass(1_000);
    const second = await ready({ amount: 11 });
    world.provider.answersOfPayouts({ ...PAID_OUT, amountSantim: 11_00n });
    await checkPayout(second, CHECK);
    const ids = async (query: string) =>
      (await send('GET', `${PATH}?${query}`)).body.data.map(
        (one: { withdrawalRequestId: string }) => one.withdrawalRequestId,
      );
    expect(await ids('startDate=2026-03-02&endDate=2026-03-02')).toEqual([second, first]);
    expect(await ids('startDate=2026-03-02&endDate=2026-03-02&status=SUCCESS')).toEqual([second]);
    expect(await ids(`startDate=2026-03-02&endDate=2026-03-02&search=${first}`)).toEqual([first]);
    expect(await ids('startDate=2026-03-02&endDate=2026-03-02&channel=AWASH')).toEqual([]);
    const page = (await send('GET', `${PATH}?startDate=2026-03-02&endDate=2026-03-02&limit=1`)).body.pagination;
    expect(await ids(`startDate=2026-03-02&endDate=2026-03-02&limit=1&cursor=${page.nextCursor}`)).toEqual([first]);
  });

  test('verify takes our id or the merchant’s, and asks the provider once in 30 s', async () => {
    const sent = body();
    const id = (await send('POST', PATH, sent)).body.data.withdrawalRequestId;
    await decideInSandbox(world, id, world.clock());
    const verify = async (wanted: string) => (await send('GET', `${PATH}/verify/${wanted}`)).body.data;
    expect(await verify(sent.requestId)).toMatchObject({ withdrawalRequestId: id, stage: 'CREATED' });
    expect(world.provider.askedOfPayouts).toEqual([]);
    await checkPayout(id, CHECK);
    world.provider.answersOfPayouts(PAID_OUT);
    expect(await verify(id)).toMatchObject({ status: 'PENDING' });
    world.pass(31_000);
    expect(await verify(id)).toMatchObject({ status: 'SUCCESS' });
    expect((await send('GET', `${PATH}/verify/nothing`)).status).toBe(404);
  });
});

/** 503 is no answer of the operation: it is asked again. */
function servedOnly(answer: HttpAnswer): HttpAnswer {
  if (answer.status !== 503) return answer;
  throw Object.assign(new Error('shed'), { code: '55P03' });
}
