import type { MerchantScope } from '../../src/lib/scope.ts';
import { acceptHeldPayment, returnHeldPayment } from '../../src/payments/holds.ts';
import { buildPendingPayment, PAID, type Fixture } from '../support/build.ts';

export type HeldMoney = { transactionId: string; sessionId: string; attemptId: string };

/** What comes instead of 100.50. */
export const OTHER_AMOUNT = { ...PAID, amountSantim: 8_000n };

/** A session whose only attempt has brought another amount than requested. */
export async function payOtherAmount(
  fixture: Fixture,
  scope: MerchantScope,
  answer = OTHER_AMOUNT,
): Promise<HeldMoney> {
  const payment = await buildPendingPayment(fixture, scope);
  fixture.provider.returns(answer);
  await fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false });
  return payment;
}

export const acceptHeld = (fixture: Fixture, payment: HeldMoney) =>
  fixture.runInTransaction((tx) => acceptHeldPayment(tx, { ...payment, at: fixture.clock() }));

export const giveHeldBack = (fixture: Fixture, payment: HeldMoney, reference = 'RET-1') =>
  fixture.runInTransaction((tx) =>
    returnHeldPayment(tx, { ...payment, reason: 'Too little', reference, at: fixture.clock() }),
  );
