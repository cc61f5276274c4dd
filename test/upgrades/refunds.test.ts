import { HOUR_MS } from '../../src/lib/dates.ts';
import { confirmPayout, declinePayout } from '../../src/payouts/confirm.ts';
import { REFUND } from '../../src/payouts/refunds/refund.ts';
import type { RefundOutcome } from '../../src/providers/provider.ts';
import {
  CHECK,
  COMPLETED,
  createRefundDatabase,
  DECLINED,
  FAILED,
  NOT_THERE,
  returned,
  UNKNOWN,
  useRefundFixture,
} from '../payouts/refunds/fixture.ts';
import { openSaved, testSaved } from './payouts.ts';

/** Of 200 birr. */
const PART = { amount: 60, returnFee: true };

const fixture = useRefundFixture(openSaved('refunds', createRefundDatabase));

const awaiting = async (): Promise<string> => {
  await fixture.secondPersonFrom(50_00n);
  return fixture.requested(PART);
};
const reported = async (...outcomes: RefundOutcome[]): Promise<string> => {
  const id = await fixture.requested(PART);
  await fixture.report(id, ...outcomes);
  return id;
};
const resolved = async (work: Promise<string>, resolution: Parameters<typeof fixture.resolve>[1]): Promise<string> => {
  const id = await work;
  fixture.pass(HOUR_MS);
  const providerReference = `${resolution.providerReference}-${id}`;
  await fixture.resolve(id, { ...resolution, providerReference });
  return id;
};
const paid = () => returned(60_00n, `BACK-${fixture.transactionId}`);

const forEach = testSaved('refunds', fixture, {
  'waits for a second person': awaiting,
  'is confirmed': async () => {
    const refundId = await awaiting();
    const { scope } = fixture;
    const decision = { scope, idOrReference: refundId, userId: 'usr_2', at: fixture.clock(), notices: [] };
    await fixture.runInTransaction((tx) => confirmPayout(tx, REFUND, decision));
    return refundId;
  },
  'is not confirmed': async () => {
    const refundId = await awaiting();
    const { scope } = fixture;
    const decision = { scope, idOrReference: refundId, reason: 'Not agreed', at: fixture.clock() };
    await fixture.runInTransaction((tx) => declinePayout(tx, REFUND, decision));
    return refundId;
  },
  'is to be sent': () => fixture.requested(PART),
  'is sent': async () => {
    const id = await fixture.requested(PART);
    await fixture.checkRefund(id, CHECK);
    return id;
  },
  'is unknown': () => reported(UNKNOWN),
  'was not found': () => reported(UNKNOWN, NOT_THERE),
  'is paid': () => reported(paid()),
  'of all is paid': async () => {
    const id = await fixture.requested({ returnFee: true });
    await fixture.report(id, returned(200_00n, `BACK-${id}`));
    return id;
  },
  'is declined': () => reported(DECLINED),
  'is declined and reported as paid': () => reported(DECLINED, paid()),
  'is declined, reported as paid and found paid': () => resolved(reported(DECLINED, paid()), COMPLETED),
  'is declined, reported as paid and found unpaid': () => resolved(reported(DECLINED, paid()), FAILED),
  'is found paid in part': () => resolved(reported(UNKNOWN), { ...COMPLETED, paidSantim: 40_00n }),
  'is found unpaid': () => resolved(reported(UNKNOWN), FAILED),
});

test('those that are sent or to be sent are paid', async () => {
  await forEach(['CREATED', 'SUBMITTED', 'UNKNOWN'], async (id) => {
    await fixture.report(id, returned(60_00n, `LATE-${id}`));
    expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS' });
  });
});

test('those that wait for a person go on waiting, also when they are called paid', async () => {
  await forEach(['AWAITING_CONFIRMATION'], async (id) => {
    const before = await fixture.read(id);
    await fixture.report(id, returned(60_00n, `LATE-${id}`));
    expect(await fixture.read(id)).toEqual(before);
  });
});
