import { rows } from '../../../src/lib/db.ts';
import { listCases } from '../../../src/payouts/cases.ts';
import { codeOf } from '../../support/code-of.ts';
import { PAID_OUT, REFUSED, REVERSED } from '../../support/withdrawals.ts';
import { CHECK, COMPLETED, FAILED, FUNDED, TOTAL, useWithdrawalFixture } from './fixture.ts';

const fixture = useWithdrawalFixture();

/** Refused, given back, and then called paid. */
async function contradicted(): Promise<string> {
  const id = await fixture.ready();
  await fixture.report(id, REFUSED, PAID_OUT);
  return id;
}

test('COMPLETED makes a FAILED withdrawal SUCCESS and charges the released money again', async () => {
  const id = await contradicted();
  expect(await fixture.balance()).toEqual([FUNDED, 0n]);
  const { row } = await fixture.resolve(id, COMPLETED);
  expect(row).toMatchObject({
    status: 'SUCCESS',
    failure: null,
    providerReference: `${COMPLETED.providerReference}-${id}`,
  });
  expect(await fixture.balance()).toEqual([FUNDED - TOTAL, 0n]);
  expect(await fixture.clearing()).toBe(FUNDED - 100_00n);
  expect((await fixture.events(id)).filter((event) => /failed|succeeded/.test(event))).toEqual([
    'withdrawal.failed',
    'withdrawal.succeeded',
  ]);
  expect((await fixture.resolve(id, COMPLETED)).isNew).toBe(false);
  fixture.provider.returnsForPayouts(REVERSED);
  await fixture.checkPayout(id, { ...CHECK, proof: true });
  expect(await fixture.balance()).toEqual([FUNDED, 0n]);
});

test('COMPLETED with a smaller amount charges only that amount, fee and tax', async () => {
  const id = await contradicted();
  await fixture.resolve(id, { ...COMPLETED, paidSantim: 60_00n });
  expect(await fixture.balance()).toEqual([FUNDED - TOTAL + 40_00n, 0n]);
  expect(await fixture.clearing()).toBe(FUNDED - 60_00n);
});

test('COMPLETED beyond the balance is rejected, and the case stays open', async () => {
  const id = await contradicted();
  await fixture.ready({ amount: 950 });
  expect(await codeOf(fixture.resolve(id, COMPLETED))).toBe('INSUFFICIENT_BALANCE');
  expect(await fixture.read(id)).toMatchObject({ status: 'FAILED' });
  expect(await rows(fixture.db, 'SELECT 1 FROM payout_resolution WHERE payout_id = :id', { id })).toEqual([]);
  expect(await listCases(fixture.db, id)).toMatchObject([{ decision: null, closedAt: null }]);
});

test('FAILED posts nothing and closes the case; a later COMPLETED corrects it', async () => {
  const id = await contradicted();
  const events = await fixture.events(id);
  expect((await fixture.resolve(id, FAILED)).row).toMatchObject({ status: 'FAILED' });
  const evidence = { outcome: 'succeeded', amountSantim: 100_00 };
  expect(await listCases(fixture.db, id)).toMatchObject([
    { status: 'FAILED', evidence, decision: 'FAILED', closedAt: fixture.clock() },
  ]);
  expect(await fixture.resolve(id, FAILED)).toMatchObject({ isNew: false });
  expect(await codeOf(fixture.resolve(id, { ...FAILED, providerReference: 'CASE-8' }))).toBe('INVALID_STATE');
  expect(await fixture.events(id)).toEqual(events);
  expect(await fixture.balance()).toEqual([FUNDED, 0n]);
  expect((await fixture.resolve(id, COMPLETED)).row.status).toBe('SUCCESS');
  expect(await fixture.balance()).toEqual([FUNDED - TOTAL, 0n]);
});

test('a FAILED withdrawal is never made SUCCESS by its provider’s report alone', async () => {
  const id = await contradicted();
  await fixture.checkPayout(id, { ...CHECK, proof: true });
  expect(await fixture.read(id)).toMatchObject({ status: 'FAILED' });
});
