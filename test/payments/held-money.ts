import type { MerchantScope } from '../../src/lib/scope.ts';
import { acceptHeldPayment, returnHeldPayment } from '../../src/payments/holds.ts';
import { buildPendingPayment, PAID, type World } from '../support/build.ts';

export type HeldMoney = { transactionId: string; sessionId: string; attemptId: string };

/** What comes instead of 100.50. */
export const OTHER_AMOUNT = { ...PAID, amountSantim: 8_000n };

/** A session whose only try has brought another amount than it asked for. */
export async function payOtherAmount(world: World, scope: MerchantScope, answer = OTHER_AMOUNT): Promise<HeldMoney> {
  const payment = await buildPendingPayment(world, scope);
  world.provider.returns(answer);
  await world.checkAttempt(payment.attemptId, { notifyWorkflow: false });
  return payment;
}

export const acceptHeld = (world: World, payment: HeldMoney) =>
  world.runInTransaction((tx) => acceptHeldPayment(tx, { ...payment, at: world.clock() }));

export const giveHeldBack = (world: World, payment: HeldMoney, reference = 'RET-1') =>
  world.runInTransaction((tx) =>
    returnHeldPayment(tx, { ...payment, reason: 'Too little', reference, at: world.clock() }),
  );

/** The code that an operation fails with, or "done". */
export const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  );
