import { createKey } from '../../../src/access/api-keys.ts';
import { readBalance } from '../../../src/ledger/balance.ts';
import { verifyLedger } from '../../../src/ledger/verify.ts';
import { HOUR_MS } from '../../../src/lib/dates.ts';
import { rows } from '../../../src/lib/db.ts';
import { listCases } from '../../../src/payouts/cases.ts';
import { WITHDRAWAL_EVENTS } from '../../../src/payouts/withdrawals/events.ts';
import { WITHDRAWAL_CHECKS } from '../../../src/payouts/withdrawals/monitoring.ts';
import { withdrawalSnapshot } from '../../../src/payouts/withdrawals/present.ts';
import { untilServed } from '../../support/build.ts';
import { codeOf } from '../../support/code-of.ts';
import { UNKNOWN_PAYOUT, NOT_THERE, PAID_OUT, REFUSED, REVERSED } from '../../support/withdrawals.ts';
import { CHECK, COMPLETED, FAILED, FUNDED, TOTAL, useWithdrawalFixture } from './fixture.ts';

const fixture = useWithdrawalFixture();

const referenceOf = (id: string) => `${COMPLETED.providerReference}-${id}`;

/** Sent, and an hour later its provider does not know. */
async function unknown(changes: object = {}): Promise<string> {
  const id = await fixture.ready(changes);
  fixture.provider.returnsForPayouts(UNKNOWN_PAYOUT);
  await fixture.checkPayout(id, CHECK);
  expect(await fixture.read(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
  fixture.pass(HOUR_MS);
  return id;
}

describe('a withdrawal whose provider does not know', () => {
  test('COMPLETED makes an UNKNOWN withdrawal SUCCESS: posted, published, its workflow signalled', async () => {
    const id = await unknown();
    fixture.enqueued.length = 0;
    const { row, missing, isNew } = await fixture.resolve(id, COMPLETED);
    expect({ missing, isNew }).toEqual({ missing: 0, isNew: true });
    expect(row).toMatchObject({
      status: 'SUCCESS',
      stage: 'COMPLETED',
      providerReference: referenceOf(id),
      paidSantim: null,
    });
    expect(await fixture.balance()).toEqual([FUNDED - TOTAL, 0n]);
    expect(await fixture.clearing()).toBe(FUNDED - 100_00n);
    expect(await fixture.events(id)).toContain('withdrawal.succeeded');
    expect(fixture.enqueued).toMatchObject([
      { kind: 'signal', workflowId: `withdrawal-${id}`, signal: 'providerResultRecorded' },
    ]);
    expect((await fixture.read(id)).timeline.at(-1)).toMatchObject({
      kind: 'withdrawal.resolved',
      detail: {
        outcome: 'COMPLETED',
        providerReference: referenceOf(id),
        reason: COMPLETED.reason,
        paidSantim: 100_00,
      },
    });
  });

  test('FAILED makes an UNKNOWN withdrawal FAILED with the reason, and releases its money', async () => {
    const id = await unknown();
    expect((await fixture.resolve(id, FAILED)).row).toMatchObject({
      status: 'FAILED',
      failure: { message: FAILED.reason },
    });
    expect(await fixture.balance()).toEqual([FUNDED, 0n]);
    expect(await fixture.events(id)).toContain('withdrawal.failed');
    fixture.provider.returnsForPayouts(NOT_THERE, PAID_OUT);
    await fixture.checkPayout(id, { ...CHECK, proof: true });
    expect(fixture.provider.payoutQueries.filter(({ operation }) => operation === 'payout')).toHaveLength(1);
  });

  test('a repeated resolution is idempotent; a different one is rejected', async () => {
    const id = await unknown();
    await fixture.resolve(id, COMPLETED);
    const before = await fixture.read(id);
    expect(await fixture.resolve(id, COMPLETED)).toMatchObject({ isNew: false, missing: 0 });
    expect(await codeOf(fixture.resolve(id, { ...COMPLETED, providerReference: 'OUT-10' }))).toBe('INVALID_STATE');
    expect(await codeOf(fixture.resolve(id, FAILED))).toBe('INVALID_STATE');
    expect(await fixture.read(id)).toEqual(before);
  });

  test('of ten concurrent resolutions with two outcomes, one outcome takes effect', async () => {
    const id = await unknown();
    const words = Array.from({ length: 10 }, (_, index) =>
      codeOf(untilServed(() => fixture.resolve(id, index % 2 === 0 ? COMPLETED : FAILED, `opr_${index}`))),
    );
    const outcomes = await Promise.all(words);
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(5);
    expect(outcomes.filter((outcome) => outcome === 'INVALID_STATE')).toHaveLength(5);
    expect([
      [FUNDED, 0n],
      [FUNDED - TOTAL, 0n],
    ]).toContainEqual(await fixture.balance());
  });

  test('a resolution is rejected while the provider is queried, which may send the payout again', async () => {
    const id = await unknown();
    let outcome: string | undefined;
    fixture.provider.returnsForPayouts(async () => {
      outcome = await codeOf(fixture.resolve(id, FAILED));
      return NOT_THERE;
    }, PAID_OUT);
    await fixture.checkPayout(id, CHECK);
    expect(outcome).toBe('INVALID_STATE');
    expect((await fixture.read(id)).status).toBe('SUCCESS');
  });

  test('a resolution by the operator who invited to the requesting key is rejected in live', async () => {
    const id = await unknown();
    const { pepper, clock } = { pepper: 'a pepper of sixteen characters', clock: fixture.clock };
    const input = { ...fixture.scope, kind: 'secret', createdBy: 'opr_1' } as const;
    const { key } = await fixture.db.transaction((trx) => createKey({ trx, pepper, clock }, input));
    const request = 'UPDATE payout SET requested_by = :keyId, environment = :environment WHERE id = :id';
    await rows(fixture.db, request, { id, keyId: key.id, environment: 'live' });
    expect(await codeOf(fixture.resolve(id, COMPLETED))).toBe('INVALID_STATE');
    await rows(fixture.db, request, { id, keyId: key.id, environment: 'sandbox' });
    expect(await codeOf(fixture.resolve(id, COMPLETED, 'opr_2'))).toBe('done');
  });

  test('a resolution by the operator who confirmed it for the merchant is rejected in live', async () => {
    const id = await unknown();
    const confirm = `UPDATE payout SET confirmed_by = 'opr_1', confirmed_at = now(), environment = :environment WHERE id = :id`;
    await rows(fixture.db, confirm, { id, environment: 'live' });
    await expect(fixture.resolve(id, COMPLETED)).rejects.toThrow('confirmed by you: you cannot resolve it');
    await rows(fixture.db, confirm, { id, environment: 'sandbox' });
    expect(await codeOf(fixture.resolve(id, COMPLETED, 'opr_2'))).toBe('done');
  });

  test('a resolved SUCCESS is reversed by its provider’s report of the paid amount', async () => {
    const id = await unknown();
    await fixture.resolve(id, { ...COMPLETED, paidSantim: 90_00n });
    fixture.provider.returnsForPayouts({ ...REVERSED, amountSantim: 90_00n });
    await fixture.checkPayout(id, { ...CHECK, proof: true });
    expect(await fixture.read(id)).toMatchObject({ status: 'REVERSED', paidAmount: 90 });
    expect((await fixture.resolve(id, { ...COMPLETED, paidSantim: 90_00n })).isNew).toBe(false);
    expect(await codeOf(fixture.resolve(id, { ...COMPLETED, paidSantim: 89_99n }))).toBe('INVALID_STATE');
    expect(await fixture.balance()).toEqual([FUNDED, 0n]);
    expect(await fixture.clearing()).toBe(FUNDED);
  });

  test('a resolution needs as many agreeing operators as the approval did, of one version; the case names them', async () => {
    const id = await unknown();
    await rows(fixture.db, `UPDATE payout SET approvals_needed = 2 WHERE id = :id`, { id });
    expect(await fixture.resolve(id, COMPLETED)).toMatchObject({ missing: 1, isNew: true, row: { status: 'PENDING' } });
    expect(await fixture.resolve(id, COMPLETED)).toMatchObject({ missing: 1, isNew: false });
    expect(await fixture.resolve(id, FAILED, 'opr_2')).toMatchObject({ missing: 1, isNew: true });
    const another = { ...COMPLETED, providerReference: 'OUT-10' };
    expect(await fixture.resolve(id, another, 'opr_2')).toMatchObject({ missing: 1, isNew: true });
    const partly = { ...COMPLETED, paidSantim: 99_99n };
    expect(await fixture.resolve(id, partly, 'opr_2')).toMatchObject({
      missing: 1,
      isNew: true,
      row: { status: 'PENDING' },
    });
    await rows(fixture.db, 'UPDATE payout SET version = version + 1 WHERE id = :id', { id });
    expect(await fixture.resolve(id, COMPLETED, 'opr_2')).toMatchObject({ missing: 1, isNew: true });
    expect(await fixture.balance()).toEqual([FUNDED - TOTAL, TOTAL]);
    expect(await listCases(fixture.db, id)).toEqual([]);
    expect(await fixture.resolve(id, COMPLETED, 'opr_3')).toMatchObject({ missing: 0, row: { status: 'SUCCESS' } });
    const [decided] = await rows<{ decidedBy: string[] }>(
      fixture.db,
      `SELECT decided_by FROM payout_case WHERE payout_id = :id AND decision = 'COMPLETED' AND evidence IS NULL`,
      { id },
    );
    expect(decided?.decidedBy).toEqual(['opr_2', 'opr_3']);
    expect(await fixture.events(id)).toContain('withdrawal.succeeded');
  });
});

describe('a resolution with another amount than requested', () => {
  test('of a smaller amount paid, the rest is released, and the merchant sees both amounts', async () => {
    const id = await fixture.ready();
    fixture.provider.returnsForPayouts({ ...PAID_OUT, amountSantim: 99_50n });
    await fixture.checkPayout(id, CHECK);
    const { row } = await fixture.resolve(id, { ...COMPLETED, paidSantim: 99_50n });
    expect(row).toMatchObject({ status: 'SUCCESS', amountSantim: 100_00n, paidSantim: 99_50n });
    expect(await fixture.read(id)).toMatchObject({ amount: 100, paidAmount: 99.5 });
    const { data } = WITHDRAWAL_EVENTS['withdrawal.succeeded'];
    expect(data.parse(withdrawalSnapshot(row))).toMatchObject({ paidAmount: 99.5 });
    expect(await fixture.balance()).toEqual([FUNDED - TOTAL + 50n, 0n]);
    expect(await fixture.clearing()).toBe(FUNDED - 99_50n);
  });

  test('of a larger amount paid, the merchant is charged the amount requested, and the rest is in suspense', async () => {
    const id = await fixture.ready();
    fixture.provider.returnsForPayouts({ ...PAID_OUT, amountSantim: 101_00n });
    await fixture.checkPayout(id, CHECK);
    await fixture.resolve(id, { ...COMPLETED, paidSantim: 101_00n });
    expect(await fixture.balance()).toEqual([FUNDED - TOTAL, 0n]);
    expect(await fixture.clearing()).toBe(FUNDED - 101_00n);
    const { feesSantim } = await readBalance(fixture.db, fixture.scope);
    expect(feesSantim).toBe(5_75n);
  });

  test('paidAmount is rejected with FAILED', async () => {
    const id = await unknown();
    expect(await codeOf(fixture.resolve(id, { ...FAILED, paidSantim: 1n }))).toBe('VALIDATION_ERROR');
  });
});

test('a withdrawal that its provider has accepted can be resolved from a day after it was sent', async () => {
  const id = await fixture.ready();
  await fixture.checkPayout(id, CHECK);
  fixture.pass(24 * HOUR_MS - 1);
  expect(await codeOf(fixture.resolve(id, COMPLETED))).toBe('INVALID_STATE');
  fixture.pass(1);
  expect((await fixture.resolve(id, COMPLETED)).row).toMatchObject({ status: 'SUCCESS' });
});

test('a withdrawal not found, not sent, accepted or declined cannot be resolved', async () => {
  expect(await codeOf(fixture.resolve('wd_none', COMPLETED))).toBe('NOT_FOUND');
  const { body } = await fixture.request();
  const id: string = body.data.withdrawalRequestId;
  expect(await codeOf(fixture.resolve(id, COMPLETED))).toBe('INVALID_STATE');
  const sent = await fixture.ready();
  expect(await codeOf(fixture.resolve(sent, FAILED))).toBe('INVALID_STATE');
  await fixture.checkPayout(sent, CHECK);
  expect(await codeOf(fixture.resolve(sent, FAILED))).toBe('INVALID_STATE');
  fixture.provider.returnsForPayouts(REFUSED);
  await fixture.checkPayout(sent, CHECK);
  expect(await codeOf(fixture.resolve(sent, COMPLETED))).toBe('INVALID_STATE');
});

test('the ledger verification compares the posting with the amount paid', async () => {
  const id = await unknown();
  await fixture.resolve(id, { ...COMPLETED, paidSantim: 90_00n });
  const set = (sql: string) => rows(fixture.db, `UPDATE payout SET ${sql} WHERE id = :id`, { id });
  await set('paid_santim = 9100');
  expect((await verifyLedger(fixture.db, WITHDRAWAL_CHECKS)).map(({ about }) => about)).toEqual([
    `withdrawal ${id} has 9000 santim paid out`,
  ]);
  await set('paid_santim = 9000');
});
