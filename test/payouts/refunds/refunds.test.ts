import { insertRow } from '../../../src/lib/db.ts';
import { newId } from '../../../src/lib/ids.ts';
import { formatBirr } from '../../../src/lib/money.ts';
import { createRefund } from '../../../src/payouts/refunds/create.ts';
import { findTransactionIds } from '../../../src/payouts/refunds/queries.ts';
import { resumeUnsentRefunds } from '../../../src/payouts/refunds/workflow.ts';
import { CHECK, DECLINED, NOT_THERE, returned, TAKEN, UNKNOWN, useRefundFixture } from './fixture.ts';

const fixture = useRefundFixture();
const kinds = (timeline: { kind: string }[]) => timeline.map(({ kind }) => kind);
const detail = async () => (await fixture.send('GET', `/api/checkout/txns/${fixture.transactionId}`)).body.data;

describe('requesting a refund', () => {
  test('a refund without an amount is of the whole payment, reserves it at once, and starts its workflow', async () => {
    await fixture.pay(100_00n);
    const { status, body } = await fixture.request({ reference: 'RETURN-1', reason: 'Returned' });
    expect(status).toBe(202);
    expect(body.data).toMatchObject({
      reference: 'RETURN-1',
      transactionId: fixture.transactionId,
      amount: 200,
      returnFee: false,
      feeReturned: 0,
      feeTaxReturned: 0,
      totalDebit: 200,
      channel: 'TELEBIRR',
      reason: 'Returned',
      status: 'PENDING',
      stage: 'CREATED',
    });
    const { refundId } = body.data;
    expect(fixture.enqueued.at(-1)).toMatchObject({ kind: 'start', workflowId: `refund-${refundId}` });
    expect(await fixture.events(refundId)).toEqual(['refund.created']);
  });

  test('a refund of more than the balance has is rejected with what it takes and what is available', async () => {
    const { status, body } = await fixture.request();
    expect([status, body.error?.code]).toEqual([422, 'INSUFFICIENT_BALANCE']);
    expect(body.message).toContain('200.00 ETB, and 194.25 ETB are available');
    expect((await detail()).refunds).toEqual([]);
  });

  test('the fee is returned in proportion with its tax, so that a whole refund takes what the payment brought', async () => {
    const { body } = await fixture.request({ returnFee: true });
    expect(body.data).toMatchObject({ amount: 200, feeReturned: 5, feeTaxReturned: 0.75, totalDebit: 194.25 });
    expect(await fixture.balance()).toEqual([0n, 194_25n]);
    await fixture.report(body.data.refundId, returned(200_00n));
    expect(await fixture.balance()).toEqual([0n, 0n]);
  });

  test("operators find what happened to an order's refunds by its number", async () => {
    await fixture.pay(100_00n);
    const refundId = await fixture.requested();
    const { checkoutOrderNo } = await detail();
    expect(await findTransactionIds(fixture.db, checkoutOrderNo)).toEqual([fixture.transactionId, refundId]);
  });

  test('several refunds share a payment until nothing is left of it', async () => {
    await fixture.pay(100_00n);
    const first = await fixture.requested({ amount: 120.5 });
    await fixture.report(first, returned(120_50n));
    const more = await fixture.request({ amount: 79.51 });
    expect([more.status, more.body.error.code]).toEqual([422, 'AMOUNT_ABOVE_MAXIMUM']);
    expect(more.body.message).toContain('at most 79.50 ETB');
    const rest = await fixture.request();
    expect(rest.body.data).toMatchObject({ amount: 79.5 });
    const none = await fixture.request({ amount: 0.01 });
    expect([none.status, none.body.error.code]).toEqual([409, 'INVALID_STATE']);
    expect(await detail()).toMatchObject({ status: 'SUCCESS', refundedAmount: 120.5, refunds: [{}, {}] });
    await fixture.report(rest.body.data.refundId, DECLINED);
    expect((await fixture.request({ amount: 79.5 })).status).toBe(202);
  });

  test('concurrent requests refund no more than the payment, and exactly so many as it covers', async () => {
    await fixture.pay(1_000_00n);
    const answers = await Promise.all(Array.from({ length: 12 }, () => fixture.request({ amount: 30 })));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([...Array(6).fill(202), ...Array(6).fill(422)]);
    expect((await fixture.request()).body.data).toMatchObject({ amount: 20 });
  });

  test('any refunds together return no more of the fee than was taken, and a whole series all of it', async () => {
    await fixture.pay(1_000_00n);
    const parts = [33.33, 0.01, 66.66, 41.7, 8.3, 0.07, 49.93];
    let [fee, tax] = [0, 0];
    for (const amount of parts) {
      const { data } = (await fixture.request({ amount, returnFee: true })).body;
      fee += data.feeReturned;
      tax += data.feeTaxReturned;
      await fixture.report(data.refundId, returned(BigInt(Math.round(amount * 100)), `BACK-${amount}`));
    }
    expect([fee.toFixed(2), tax.toFixed(2)]).toEqual(['5.00', '0.75']);
    expect(formatBirr((await fixture.balance())[1])).toBe('0.00');
  });

  test('a failed refund, and one that keeps the fee, leave their part of the fee to others', async () => {
    await fixture.pay(1_000_00n);
    await fixture.requested({ amount: 100 });
    const failed = await fixture.requested({ amount: 100, returnFee: true });
    await fixture.report(failed, DECLINED);
    const { data } = (await fixture.request({ amount: 100, returnFee: true })).body;
    expect(data).toMatchObject({ feeReturned: 2.5, feeTaxReturned: 0.38 });
  });

  test("a fee that the merchant's fees keep is not returned", async () => {
    const { scope, transactionId } = fixture;
    await fixture.db.transaction((trx) =>
      insertRow(trx, 'fee_rule', {
        id: newId('fee'),
        merchantId: scope.merchantId,
        channel: 'TELEBIRR',
        direction: 'PAY_IN',
        basisPoints: 250,
        fixedSantim: 0n,
        taxBasisPoints: 1_500,
        validFrom: new Date('2020-01-01T00:00:00.000Z'),
        version: 1,
      }),
    );
    const { status, body } = await fixture.request({ returnFee: true });
    expect([status, body.error.code, body.error.details[0]]).toMatchObject([
      400,
      'VALIDATION_ERROR',
      { field: 'returnFee', code: 'not_allowed' },
    ]);
    const { data } = (await fixture.send('GET', `/api/checkout/txns/${transactionId}`)).body;
    expect([data.feeReturnable, data.refunds]).toEqual([false, []]);
  });

  test('only a SUCCESS transaction of the merchant without held money can be refunded', async () => {
    const { send, transactionId } = fixture;
    const other = await fixture.request({}, 'txn_01JD0000000000000000000000');
    expect(other.status).toBe(404);
    await fixture.db.knex()('transaction').where({ id: transactionId }).update({ holdReason: 'WRONG_AMOUNT' });
    const held = await fixture.request({ amount: 1 });
    expect([held.status, held.body.message]).toEqual([409, expect.stringContaining('held')]);
    await fixture.db.knex()('transaction').where({ id: transactionId }).update({ holdReason: null });
    expect((await send('GET', '/api/checkout/refunds')).body.data).toEqual([]);
  });
});

test('a channel without an account at its provider refunds nothing', async () => {
  const { scope, transactionId } = fixture;
  const wanted = { transactionId, reference: 'R-NONE', returnFee: false, requestedBy: 'key_test' };
  const deps = { ...fixture, findProvider: () => null };
  const refund = fixture.runInTransaction((tx) => createRefund({ ...deps, tx }, scope, wanted));
  await expect(refund).rejects.toMatchObject({ code: 'CHANNEL_NOT_AVAILABLE' });
  expect(await fixture.balance()).toEqual([194_25n, 0n]);
});

test('a transaction has at most 100 refunds', async () => {
  const { scope, transactionId } = fixture;
  const wanted = { transactionId, amountSantim: 1n, returnFee: false, requestedBy: 'key_test' };
  await fixture.runInTransaction(async (tx) => {
    for (let made = 0; made < 100; made += 1) {
      await createRefund({ ...fixture, tx }, scope, { ...wanted, reference: `MANY-${made}` });
    }
  });
  const { status, body } = await fixture.request({ amount: 1 });
  expect([status, body.message]).toEqual([409, expect.stringContaining('has 100 refunds')]);
});

describe('idempotency', () => {
  test('a repeated reference with the same body returns the same refund, also when nothing would be left', async () => {
    const body = { reference: 'AGAIN-1', returnFee: true };
    const first = await fixture.request(body);
    const second = await fixture.request(body);
    expect([first.status, second.status]).toEqual([202, 200]);
    expect(second.body.data.refundId).toBe(first.body.data.refundId);
    expect(await fixture.balance()).toEqual([0n, 194_25n]);
  });

  test.each([{ amount: 10 }, { amount: 10, reason: 'x' }, { amount: 9, returnFee: true }])(
    'a reference with another body is a duplicate: %j',
    async (other) => {
      const first = await fixture.requested({ reference: 'AGAIN-2', amount: 9 });
      const { status, body } = await fixture.request({ reference: 'AGAIN-2', ...other });
      expect([status, body.error.code]).toEqual([409, 'DUPLICATE_REFERENCE']);
      expect(JSON.stringify(body)).toContain(first);
    },
  );

  test('concurrent requests with one reference for two payments make one refund', async () => {
    const other = await fixture.pay(200_00n);
    const body = { reference: 'RACE-1', amount: 5 };
    const answers = await Promise.all(
      [fixture.transactionId, other, fixture.transactionId, other].map((id) => fixture.request(body, id)),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, 202, 409, 409]);
    expect((await fixture.balance())[1]).toBe(5_00n);
  });
});

describe('the life of a refund', () => {
  test('it is sent once under its id, and is SUCCESS when the provider reports it as paid', async () => {
    const id = await fixture.requested({ amount: 50 });
    await fixture.checkRefund(id, CHECK);
    expect(await fixture.read(id)).toMatchObject({ status: 'PENDING', stage: 'SUBMITTED' });
    fixture.provider.returnsForRefunds(returned(50_00n));
    await fixture.checkRefund(id, CHECK);
    const refund = await fixture.read(id);
    expect(refund).toMatchObject({ status: 'SUCCESS', providerReference: `BACK-${id}` });
    expect(kinds(refund.timeline)).toEqual([
      'refund.created',
      'refund.submitted',
      'refund.responded',
      'refund.succeeded',
    ]);
    expect(await fixture.balance()).toEqual([144_25n, 0n]);
    expect(await fixture.events(id)).toEqual(['refund.created', 'refund.succeeded']);
    const [sent, queried] = fixture.provider.refundQueries;
    const attemptId = (await detail()).attempts[0].attemptId;
    expect(sent).toMatchObject({ operation: 'refund', refundId: id, paymentId: attemptId });
    expect(queried).toMatchObject({ operation: 'queryRefund', refundId: id, paymentId: attemptId });
    const transaction = await detail();
    expect(transaction).toMatchObject({ status: 'SUCCESS', refundedAmount: 50, refunds: [{ refundId: id }] });
    expect(transaction.movements.map(({ type }: { type: string }) => type)).toContain('REFUND_RESERVED');
    expect(kinds(transaction.timeline)).toContain('refund.succeeded');
  });

  test('a declined refund is FAILED, and its money is available again', async () => {
    const id = await fixture.requested({ amount: 50 });
    await fixture.report(id, TAKEN, DECLINED);
    expect(await fixture.read(id)).toMatchObject({ status: 'FAILED', failure: { code: 'DECLINED' } });
    expect(await fixture.balance()).toEqual([194_25n, 0n]);
    expect(await fixture.events(id)).toEqual(['refund.created', 'refund.failed']);
    expect((await detail()).refundedAmount).toBeUndefined();
  });

  test('an UNKNOWN refund stays reserved, and is sent again under its id only if the provider does not know it', async () => {
    const id = await fixture.requested({ amount: 50 });
    await fixture.report(id, UNKNOWN);
    expect(await fixture.read(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
    expect(await fixture.balance()).toEqual([144_25n, 50_00n]);
    fixture.provider.returnsForRefunds(NOT_THERE, returned(50_00n));
    await fixture.checkRefund(id, CHECK);
    expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS' });
    const asked = fixture.provider.refundQueries.map(({ operation, refundId }) => [operation, refundId]);
    expect(asked).toEqual([
      ['refund', id],
      ['queryRefund', id],
      ['refund', id],
    ]);
  });

  test('concurrent checks send it once', async () => {
    const id = await fixture.requested({ amount: 50 });
    fixture.provider.returnsForRefunds(TAKEN, returned(50_00n));
    await Promise.all(Array.from({ length: 5 }, () => fixture.checkRefund(id, CHECK)));
    const sent = fixture.provider.refundQueries.filter(({ operation }) => operation === 'refund');
    expect(sent).toHaveLength(1);
  });

  test('operations at the same time share one payment, each waiting for the one before', async () => {
    const { scope, transactionId } = fixture;
    const wanted = { transactionId, amountSantim: 50_00n, returnFee: true, requestedBy: 'key_test' };
    const results = await Promise.allSettled(
      Array.from({ length: 7 }, (_, index) =>
        fixture.runInTransaction((tx) =>
          createRefund({ ...fixture, tx }, scope, { ...wanted, reference: `AT-${index}` }),
        ),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    expect(await fixture.balance()).toEqual([0n, 194_25n]);
  });

  test('a submission that was not made counts as none, and a refund of a suspended merchant waits', async () => {
    const id = await fixture.requested({ amount: 50 });
    await fixture.report(id, { kind: 'unknown', reason: 'circuit-open', message: 'not sent' });
    expect(await fixture.read(id)).toMatchObject({ stage: 'CREATED' });
    await fixture.db.knex()('merchant').where({ id: fixture.scope.merchantId }).update({ status: 'SUSPENDED' });
    fixture.provider.refundQueries.length = 0;
    await fixture.report(id, returned(50_00n));
    expect(fixture.provider.refundQueries).toEqual([]);
    await fixture.db.knex()('merchant').where({ id: fixture.scope.merchantId }).update({ status: 'ACTIVE' });
    fixture.enqueued.length = 0;
    await fixture.runInTransaction((tx) => resumeUnsentRefunds(tx, fixture.scope.merchantId));
    expect(fixture.enqueued).toMatchObject([{ kind: 'signal', workflowId: `refund-${id}`, signal: 'refundUpdated' }]);
    await fixture.report(id, returned(50_00n));
    expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS' });
  });

  test('lists show refunds newest first, of one payment or of all, and find one by any of its ids', async () => {
    const first = await fixture.requested({ amount: 10, reference: 'LIST-1' });
    fixture.pass(1_000);
    const second = await fixture.requested({ amount: 20 });
    await fixture.report(second, returned(20_00n, 'BACK-9'));
    const ids = async (path: string) =>
      (await fixture.send('GET', path)).body.data.map(({ refundId }: { refundId: string }) => refundId);
    expect(await ids(`/api/checkout/txns/${fixture.transactionId}/refunds`)).toEqual([first, second]);
    expect(await ids('/api/checkout/refunds')).toEqual([second, first]);
    expect(await ids('/api/checkout/refunds?status=PENDING')).toEqual([first]);
    expect(await ids('/api/checkout/refunds?search=BACK-9')).toEqual([second]);
    expect(await ids(`/api/checkout/refunds?search=${fixture.transactionId}`)).toEqual([second, first]);
    expect(await fixture.read('LIST-1')).toMatchObject({ refundId: first });
  });
});
