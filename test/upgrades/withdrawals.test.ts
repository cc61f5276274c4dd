import { HOUR_MS } from '../../src/lib/dates.ts';
import { setSecondPersonFrom } from '../../src/merchants/operations.ts';
import { rejectWithdrawal } from '../../src/payouts/withdrawals/review.ts';
import { CHECK, COMPLETED, FAILED, PATH, useWithdrawalFixture } from '../payouts/withdrawals/fixture.ts';
import { createTestDatabase } from '../support/database.ts';
import { NOT_THERE, PAID_OUT, REFUSED, REVERSED, UNKNOWN_PAYOUT } from '../support/withdrawals.ts';
import { openSaved, testSaved } from './payouts.ts';

const fixture = useWithdrawalFixture(openSaved('withdrawals', createTestDatabase));

const requested = async (): Promise<string> => (await fixture.request()).body.data.withdrawalRequestId;
const sent = async (): Promise<string> => {
  const id = await fixture.ready();
  await fixture.checkPayout(id, CHECK);
  return id;
};
const reported = async (...outcomes: Parameters<typeof fixture.provider.returnsForPayouts>): Promise<string> => {
  const id = await fixture.ready();
  await fixture.report(id, ...outcomes);
  return id;
};
const resolved = async (work: Promise<string>, resolution: typeof COMPLETED): Promise<string> => {
  const id = await work;
  fixture.pass(HOUR_MS);
  await fixture.resolve(id, resolution);
  return id;
};

const forEach = testSaved('withdrawals', fixture, {
  'waits for a second person': async () => {
    await fixture.db.transaction((trx) => setSecondPersonFrom(trx, fixture.scope.merchantId, 100_00n));
    return requested();
  },
  'is reviewed': requested,
  'is to be sent': () => fixture.ready(),
  'is sent': sent,
  'is unknown': () => reported(UNKNOWN_PAYOUT),
  'was not found': () => reported(UNKNOWN_PAYOUT, NOT_THERE),
  'is paid': () => reported(PAID_OUT),
  'is reversed': () => reported(PAID_OUT, REVERSED),
  'is declined': () => reported(REFUSED),
  'is declined and reported as paid': () => reported(REFUSED, PAID_OUT),
  'is declined, reported as paid and found paid': () => resolved(reported(REFUSED, PAID_OUT), COMPLETED),
  'is declined, reported as paid and found unpaid': () => resolved(reported(REFUSED, PAID_OUT), FAILED),
  'is found paid in part': () => resolved(reported(UNKNOWN_PAYOUT), { ...COMPLETED, paidSantim: 60_00n }),
  'is found unpaid': () => resolved(reported(UNKNOWN_PAYOUT), FAILED),
  'is rejected': async () => {
    const id = await requested();
    const rejection = { operatorId: 'opr_1', reason: 'Unknown', at: fixture.clock() };
    await fixture.runInTransaction((tx) => rejectWithdrawal(tx, id, rejection));
    return id;
  },
  'is cancelled': async () => {
    const id = await requested();
    await fixture.send('POST', `${PATH}/${id}/cancel`);
    return id;
  },
});

test('those that are sent or to be sent are paid', async () => {
  await forEach(['CREATED', 'SUBMITTED', 'UNKNOWN'], async (id) => {
    await fixture.report(id, { ...PAID_OUT, providerReference: `LATE-${id}` });
    expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS' });
  });
});

test('those that wait for a person go on waiting, also when they are called paid', async () => {
  await forEach(['AWAITING_CONFIRMATION', 'UNDER_REVIEW'], async (id) => {
    const before = await fixture.read(id);
    await fixture.report(id, { ...PAID_OUT, providerReference: `LATE-${id}` });
    expect(await fixture.read(id)).toEqual(before);
  });
});
