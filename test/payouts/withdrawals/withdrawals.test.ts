import { rows } from '../../../src/lib/db.ts';
import { listCases } from '../../../src/payouts/cases.ts';
import { createCheck } from '../../../src/payouts/check.ts';
import { createWithdrawal } from '../../../src/payouts/withdrawals/create.ts';
import { type WithdrawalRow } from '../../../src/payouts/withdrawals/queries.ts';
import { cancelWithdrawal } from '../../../src/payouts/withdrawals/review.ts';
import { WITHDRAWAL } from '../../../src/payouts/withdrawals/withdrawal.ts';
import { untilServed } from '../../support/build.ts';
import { servedOnly } from '../../support/http.ts';
import { UNKNOWN_PAYOUT, NOT_THERE, PAID_OUT, REFUSED, REVERSED } from '../../support/withdrawals.ts';
import { CHECK, useWithdrawalFixture, PATH } from './fixture.ts';

/** Two hundred take a minute or two: `ROUNDS=200 npm test -- test/withdrawals`. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 25);

describe('the life of a withdrawal', () => {
  const fixture = useWithdrawalFixture();

  const kinds = (row: { timeline: { kind: string }[] }) => row.timeline.map(({ kind }) => kind);

  test('a new withdrawal reserves its amount, fee and tax, is under review the first time, and starts its workflow', async () => {
    const { status, body: answer } = await fixture.request();
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
    expect(await fixture.balance()).toEqual([894_25n, 105_75n]);
    expect((await fixture.events(id)).toSorted()).toEqual(['withdrawal.created', 'withdrawal.under_review']);
    expect(fixture.enqueued.at(-1)).toMatchObject({ kind: 'start', workflowId: `withdrawal-${id}` });
    expect(JSON.stringify(fixture.enqueued.at(-1))).not.toMatch(/0911|251911|Abebe/);
  });

  test('an approved withdrawal is sent once, and is SUCCESS when the provider reports it as paid', async () => {
    const id = await fixture.ready();
    await fixture.checkPayout(id, CHECK);
    expect(await fixture.read(id)).toMatchObject({ status: 'PENDING', stage: 'SUBMITTED' });
    fixture.provider.returnsForPayouts(PAID_OUT);
    await fixture.checkPayout(id, CHECK);
    const row = await fixture.read(id);
    expect(row).toMatchObject({ status: 'SUCCESS', providerReference: `OUT-${id}` });
    expect(row.stage).toBeUndefined();
    expect(kinds(row)).toEqual([
      'withdrawal.created',
      'review.started',
      'review.approved',
      'payout.submitted',
      'provider.responded',
      'payout.succeeded',
    ]);
    expect(await fixture.balance()).toEqual([894_25n, 0n]);
    expect(await fixture.events(id)).toContain('withdrawal.succeeded');
    expect(fixture.provider.payoutQueries.map(({ operation }) => operation)).toEqual(['payout', 'queryPayout']);
    const order = fixture.provider.payoutQueries[0]?.order;
    expect(order).toMatchObject({
      orderId: id,
      amountSantim: 100_00n,
      destination: { kind: 'phone', phone: '251911000001' },
    });
  });

  test('a declined withdrawal is FAILED, and its money is released with the fee', async () => {
    const id = await fixture.ready();
    fixture.provider.returnsForPayouts(REFUSED);
    await fixture.checkPayout(id, CHECK);
    expect(await fixture.read(id)).toMatchObject({
      status: 'FAILED',
      failure: { code: 'INVALID_PAYEE', providerCode: 'E404' },
    });
    expect(await fixture.balance()).toEqual([1_000_00n, 0n]);
    expect(await fixture.events(id)).toContain('withdrawal.failed');
  });

  test('an UNKNOWN withdrawal keeps its money reserved, and is sent again only if the provider does not know the order', async () => {
    const id = await fixture.ready();
    fixture.provider.returnsForPayouts(UNKNOWN_PAYOUT);
    await fixture.checkPayout(id, CHECK);
    expect(await fixture.read(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
    expect(await fixture.balance()).toEqual([894_25n, 105_75n]);
    expect((await fixture.send('POST', `${PATH}/${id}/cancel`)).status).toBe(409);
    fixture.provider.returnsForPayouts(NOT_THERE, PAID_OUT);
    await fixture.checkPayout(id, CHECK);
    expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS' });
    expect(fixture.provider.payoutQueries.map(({ operation }) => operation)).toEqual([
      'payout',
      'queryPayout',
      'payout',
    ]);
    expect(new Set(fixture.provider.payoutQueries.map(({ orderId }) => orderId))).toEqual(new Set([id]));
  });

  test('a reversal after SUCCESS returns the money to the merchant', async () => {
    const id = await fixture.ready();
    fixture.provider.returnsForPayouts(PAID_OUT);
    await fixture.checkPayout(id, CHECK);
    fixture.provider.returnsForPayouts(REVERSED);
    await fixture.checkPayout(id, CHECK);
    expect(await fixture.read(id)).toMatchObject({
      status: 'REVERSED',
      completedAt: expect.any(String),
      reversedAt: expect.any(String),
    });
    expect(await fixture.balance()).toEqual([1_000_00n, 0n]);
    await fixture.checkPayout(id, CHECK);
    expect((await fixture.events(id)).toSorted()).toEqual([
      'withdrawal.created',
      'withdrawal.reversed',
      'withdrawal.succeeded',
      'withdrawal.under_review',
    ]);
  });

  test('a reversal reported before the payment is published as both paid and reversed', async () => {
    const id = await fixture.ready();
    fixture.provider.returnsForPayouts(REVERSED);
    await fixture.checkPayout(id, CHECK);
    expect(await fixture.read(id)).toMatchObject({ status: 'REVERSED' });
    expect((await fixture.events(id)).toSorted()).toEqual([
      'withdrawal.created',
      'withdrawal.reversed',
      'withdrawal.succeeded',
      'withdrawal.under_review',
    ]);
    expect(await fixture.balance()).toEqual([1_000_00n, 0n]);
  });

  test('a payment of another amount leaves the withdrawal UNKNOWN', async () => {
    const id = await fixture.ready();
    fixture.provider.returnsForPayouts({ ...PAID_OUT, amountSantim: 1n });
    await fixture.checkPayout(id, CHECK);
    expect(await fixture.read(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
  });

  test('a payment reported after FAILED posts nothing and opens one case', async () => {
    const id = await fixture.ready();
    fixture.provider.returnsForPayouts(REFUSED);
    await fixture.checkPayout(id, CHECK);
    fixture.provider.returnsForPayouts(PAID_OUT);
    expect((await fixture.checkPayout(id, CHECK)).queried).toBe(false);
    for (const _ of [1, 2]) {
      const checked = await fixture.checkPayout(id, { ...CHECK, proof: true });
      expect(checked.isConclusive).toBe(true);
      expect(checked.row).toMatchObject({ status: 'FAILED' });
      expect(await listCases(fixture.db, id)).toMatchObject([{ status: 'FAILED', decision: null, closedAt: null }]);
    }
    const row = await fixture.read(id);
    expect(kinds(row).filter((kind) => kind === 'provider.conflict')).toHaveLength(1);
    expect(row.timeline.at(-1).detail).toMatchObject({ amountSantim: 100_00, providerReference: `OUT-${id}` });
    expect(await fixture.balance()).toEqual([1_000_00n, 0n]);
  });

  test('a check whose lease has expired sends nothing', async () => {
    const id = await fixture.ready();
    const findProvider = () => {
      fixture.pass(11_000);
      return fixture.provider;
    };
    const slow = createCheck({ ...fixture, findProvider }, WITHDRAWAL);
    expect(await slow(id, CHECK)).toMatchObject({ queried: true, outcome: 'unknown' });
    expect(fixture.provider.payoutQueries).toEqual([]);
  });

  test('a lost submission is not sent again while the merchant is suspended', async () => {
    const id = await fixture.ready();
    fixture.provider.returnsForPayouts(UNKNOWN_PAYOUT);
    await fixture.checkPayout(id, CHECK);
    await rows(fixture.db, `UPDATE merchant SET status = 'SUSPENDED' WHERE id = :merchantId`, fixture.scope);
    fixture.provider.returnsForPayouts(NOT_THERE, PAID_OUT);
    await fixture.checkPayout(id, CHECK);
    expect(fixture.provider.payoutQueries.filter(({ operation }) => operation === 'payout')).toHaveLength(1);
    expect((await fixture.read(id)).status).toBe('PENDING');
  });

  test('a verified callback about a withdrawal that is not sent yet is not concluded, and one about an ended one is', async () => {
    const id = await fixture.ready();
    fixture.provider.returnsForPayouts({ kind: 'unknown', reason: 'rate-limit', message: 'not sent' });
    const unsent = await fixture.checkPayout(id, { ...CHECK, proof: true });
    expect(unsent).toMatchObject({ isConclusive: false, row: { stage: 'CREATED', submittedAt: null } });
    await fixture.send('POST', `${PATH}/${id}/cancel`);
    const ended = await fixture.checkPayout(id, { ...CHECK, proof: true });
    expect(ended).toMatchObject({ isConclusive: true, queried: false, row: { status: 'CANCELLED' } });
  });

  test('fifty concurrent checks send and post a withdrawal once', async () => {
    const id = await fixture.ready();
    fixture.provider.returnsForPayouts(PAID_OUT);
    await Promise.all(Array.from({ length: 50 }, () => untilServed(() => fixture.checkPayout(id, CHECK))));
    expect(fixture.provider.payoutQueries.filter(({ operation }) => operation === 'payout')).toHaveLength(1);
    expect(await fixture.balance()).toEqual([894_25n, 0n]);
    expect((await fixture.events(id)).filter((event) => event === 'withdrawal.succeeded')).toHaveLength(1);
  });

  test('a repeated request returns the same withdrawal; another body with its requestId is rejected', async () => {
    const sent = fixture.body();
    const first = await fixture.send('POST', PATH, sent);
    const again = await fixture.send('POST', PATH, sent);
    expect([first.status, again.status]).toEqual([202, 200]);
    expect(again.body.data).toEqual(first.body.data);
    const beneficiary = { phone: '0911000001', accountName: 'Abebe Bikila' };
    for (const change of [
      { amount: 101 },
      { channel: 'CBE_BIRR' },
      { destination: { ...beneficiary, phone: '0911000002' } },
      { destination: { ...beneficiary, accountName: 'Somebody Else' } },
      { reason: 'Rent' },
    ]) {
      const other = await fixture.send('POST', PATH, { ...sent, ...change });
      expect({ change, status: other.status, error: other.body.error }).toMatchObject({
        change,
        status: 409,
        error: {
          code: 'DUPLICATE_REFERENCE',
          existing: { withdrawalRequestId: first.body.data.withdrawalRequestId },
        },
      });
    }
    expect(await fixture.balance()).toEqual([894_25n, 105_75n]);
  });

  test('an unsent withdrawal can be cancelled, idempotently; a sent one cannot', async () => {
    const { body: answer } = await fixture.request();
    const id = answer.data.withdrawalRequestId;
    for (const _ of [1, 2]) {
      const { status, body: cancelled } = await fixture.send('POST', `${PATH}/${id}/cancel`);
      expect({ status, is: cancelled.data.status }).toEqual({ status: 200, is: 'CANCELLED' });
    }
    expect(await fixture.balance()).toEqual([1_000_00n, 0n]);
    expect((await fixture.events(id)).filter((event) => event === 'withdrawal.canceled')).toHaveLength(1);
    expect((await fixture.checkPayout(id, CHECK)).row.status).toBe('CANCELLED');
    expect(fixture.provider.payoutQueries).toEqual([]);
    const sent = await fixture.ready();
    await fixture.checkPayout(sent, CHECK);
    expect((await fixture.send('POST', `${PATH}/${sent}/cancel`)).body.error.code).toBe('INVALID_STATE');
  });

  test('a cancellation and a check at once: exactly one takes effect, and the balance agrees with it', async () => {
    for (let round = 0; round < 20; round += 1) {
      const amountSantim = BigInt(1 + round) * 100n;
      fixture.provider.returnsForPayouts({ ...PAID_OUT, amountSantim });
      const id = await fixture.ready({ amount: 1 + round });
      const [before, reserved] = await fixture.balance();
      const [, cancelled] = await Promise.all([
        fixture.checkPayout(id, CHECK),
        fixture.send('POST', `${PATH}/${id}/cancel`),
      ]);
      const { row } = await fixture.checkPayout(id, CHECK);
      const taken = fixture.provider.payoutQueries.some(({ orderId }) => orderId === id);
      expect({ cancelled: cancelled.status === 200, status: row.status }).toEqual({
        cancelled: !taken,
        status: taken ? 'SUCCESS' : 'CANCELLED',
      });
      expect(reserved).toBe(amountSantim + 5_75n);
      expect(await fixture.balance()).toEqual([taken ? before : before + reserved, 0n]);
    }
  });

  test('of fifty concurrent requests for the whole balance exactly one succeeds', async () => {
    const all = { amount: 994.25 };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => untilServed(async () => servedOnly(await fixture.request(all)))),
    );
    const codes = answers.map(({ status, body: answer }) => (status === 202 ? 'made' : String(answer.error.code)));
    expectOneOfFifty(codes);
    expect(await fixture.balance()).toEqual([0n, 1_000_00n]);
  });

  test(`of fifty concurrent requests for the whole balance exactly one succeeds, ${ROUNDS} times in a row`, async () => {
    const { clock, scope, runInTransaction } = fixture;
    const findProvider = () => fixture.provider;
    const destination = { kind: 'phone', phone: '251911000001', accountName: 'Abebe Bikila' } as const;
    const base = { amountSantim: 994_25n, channel: 'TELEBIRR', destination, requestedBy: 'key_1' } as const;
    for (let round = 0; round < ROUNDS; round += 1) {
      const take = async (_: unknown, nth: number): Promise<WithdrawalRow> => {
        const wanted = { ...base, requestId: `ALL-${round}-${nth}` };
        const ask = () => runInTransaction((tx) => createWithdrawal({ tx, clock, findProvider }, scope, wanted));
        return (await untilServed(ask)).row;
      };
      const taken = await Promise.allSettled(Array.from({ length: 50 }, take));
      expectOneOfFifty(taken.map((one) => (one.status === 'fulfilled' ? 'made' : String(one.reason.code))));
      // So that there is everything to take in the next round.
      const made = taken.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      for (const row of made) await runInTransaction((tx) => cancelWithdrawal(tx, row, clock()));
    }
  }, 180_000);
});

function expectOneOfFifty(codes: string[]): void {
  expect(codes.filter((code) => code === 'made')).toHaveLength(1);
  expect(codes.filter((code) => code === 'INSUFFICIENT_BALANCE')).toHaveLength(49);
}
