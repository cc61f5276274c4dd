import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Santim } from '../../src/lib/money.ts';
import type { Owner } from '../../src/lib/owner.ts';
import type { PayoutOutcome } from '../../src/providers/provider.ts';
import { buildAttempt, buildMerchant, buildSession, PAID, type World } from './build.ts';

export const TAKEN: PayoutOutcome = { kind: 'accepted', providerReference: null, providerCode: '0' };
export const DOUBT: PayoutOutcome = { kind: 'unknown', reason: 'timeout', message: 'no answer in 2 s' };
export const NOT_THERE: PayoutOutcome = { kind: 'not-found', providerCode: 'NO_SUCH' };
export const PAID_OUT: Extract<PayoutOutcome, { kind: 'succeeded' }> = {
  kind: 'succeeded',
  providerReference: 'OUT-1',
  amountSantim: 100_00n,
  currency: 'ETB',
  providerCode: 'PAID',
};
export const REVERSED: PayoutOutcome = { kind: 'reversed', providerReference: 'OUT-1', providerCode: 'REVERSED' };
export const REFUSED: PayoutOutcome = {
  kind: 'declined',
  failure: { code: 'INVALID_PAYEE', message: 'No such wallet.', providerCode: 'E404', retryable: false },
};

/** A merchant whose payments cost nothing, so that it has what was paid. */
export async function buildFreeMerchant(world: World): Promise<Owner> {
  const owner = await buildMerchant(world.db);
  await rows(
    world.db,
    `INSERT INTO fee_rule (id, merchant_id, channel, direction, basis_points, fixed_santim, tax_basis_points, valid_from, version)
     VALUES (:id, :merchantId, 'TELEBIRR', 'PAY_IN', 0, 0, 0, '2020-01-01T00:00:00Z', 1)`,
    { id: newId('fee'), merchantId: owner.merchantId },
  );
  return owner;
}

/** A payment of this much: what the merchant then has to withdraw. */
export async function fund(world: World, owner: Owner, amountSantim: Santim): Promise<void> {
  const { sessionId } = await buildSession(world, owner, { amountSantim });
  const attemptId = await buildAttempt(world, { ...owner, sessionId });
  world.provider.answers({ ...PAID, amountSantim });
  await world.checkAttempt(attemptId, { tellWorkflow: false });
}
