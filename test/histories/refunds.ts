import { setSecondPersonFrom } from '../../src/merchants/operations.ts';
import { confirmPayout } from '../../src/payouts/confirm.ts';
import { readRefund } from '../../src/payouts/refunds/queries.ts';
import { REFUND } from '../../src/payouts/refunds/refund.ts';
import { refundWorkflowId } from '../../src/payouts/refunds/workflow.ts';
import { buy } from '../chaos/service.ts';
import { skipTime } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { fund } from '../support/withdrawals.ts';
import { moneyOf, untilProgress, untilSent, type Scene, type Scenes } from './scene.ts';

/** Payers by the behaviour of their refunds in the sandbox. */
const PHONES = { refunded: '0911000001', slow: '0911000005', failed: '0911000009' } as const;
const SLOWLY_MS = 121_000;

/** The ends of refunds. */
export const REFUND_SCENES: Scenes = {
  'refund-confirmed': async (scene) => {
    const { fixture } = scene.service;
    const { scope } = scene.merchant;
    await fixture.db.transaction((trx) => setSecondPersonFrom(trx, scope.merchantId, 1n));
    const refundId = await request(scene, 'refunded');
    await untilProgress(scene, refundWorkflowId(refundId), 'waiting for a second person');
    const decision = { scope, idOrReference: refundId, userId: 'usr_1', at: new Date(), notices: [] };
    await fixture.runInTransaction((tx) => confirmPayout(tx, REFUND, decision));
    return refundWorkflowId(refundId);
  },
  'refund-failed': async (scene) => refundWorkflowId(await request(scene, 'failed')),
  'refund-slow': async (scene) => {
    const { simulator, fixture } = scene.service;
    const refundId = await request(scene, 'slow');
    await until('it to be taken', async () => (await readRefund(fixture.db, refundId)).lastOutcome);
    await simulator.advance(SLOWLY_MS);
    await skipTime(fixture.temporal.client, refundWorkflowId(refundId), SLOWLY_MS);
    return refundWorkflowId(refundId);
  },
};

/** Pays a session and requests its refund over HTTP; returns the refund's id. */
async function request(scene: Scene, phone: keyof typeof PHONES): Promise<string> {
  const { scope, client } = scene.merchant;
  await fund(moneyOf(scene), scope, 100_00n);
  const { transactionId } = await buy(client, { orderNo: 'REFUNDED-1', phone: PHONES[phone] });
  if (phone === 'slow') await scene.service.simulator.advance(SLOWLY_MS);
  await until('the payment', async () => {
    const row = await scene.service.fixture.db.knex()('transaction').where({ id: transactionId }).first('status');
    return row?.status === 'SUCCESS';
  });
  const refund = await client.post(`txns/${transactionId}/refunds`, { reference: 'BACK-1' });
  await untilSent(scene, refundWorkflowId(String(refund['refundId'])));
  return String(refund['refundId']);
}
