import { type Database, rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { formatBirr, type Santim } from '../../src/lib/money.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { grantChannels } from '../../src/merchants/channels/operations.ts';
import type { PayoutOutcome } from '../../src/providers/provider.ts';
import { buildAttempt, buildMerchant, buildSession, PAID, type Fixture } from './build.ts';
import type { TestSimulator } from './simulator.ts';

export const TAKEN: PayoutOutcome = { kind: 'accepted', providerReference: null, providerCode: '0' };
export const UNKNOWN_PAYOUT: PayoutOutcome = { kind: 'unknown', reason: 'timeout', message: 'no answer in 2 s' };
export const NOT_THERE: PayoutOutcome = { kind: 'not-found', providerCode: 'NO_SUCH' };
type TransitionResult = Extract<PayoutOutcome, { kind: 'succeeded' | 'reversed' }>;
export const PAID_OUT: TransitionResult = {
  kind: 'succeeded',
  providerReference: 'OUT-1',
  amountSantim: 100_00n,
  currency: 'ETB',
  providerCode: 'PAID',
};
export const REVERSED: TransitionResult = { ...PAID_OUT, kind: 'reversed', providerCode: 'REVERSED' };
export const REFUSED: PayoutOutcome = {
  kind: 'declined',
  failure: { code: 'INVALID_PAYEE', message: 'No such wallet.', providerCode: 'E404', retryable: false },
};

/** A merchant without fees: its balance is the sum of its payments. */
export async function buildFreeMerchant(fixture: Fixture): Promise<MerchantScope> {
  const scope = await buildMerchant(fixture.db);
  await rows(
    fixture.db,
    `INSERT INTO fee_rule (id, merchant_id, channel, direction, basis_points, fixed_santim, tax_basis_points, valid_from, version)
     VALUES (:id, :merchantId, 'TELEBIRR', 'PAY_IN', 0, 0, 0, '2020-01-01T00:00:00Z', 1)`,
    { id: newId('fee'), merchantId: scope.merchantId },
  );
  return scope;
}

/** The live environment of the same merchant: verified, with every available channel. */
export async function buildLive(
  db: Database,
  { merchantId }: Pick<MerchantScope, 'merchantId'>,
): Promise<MerchantScope> {
  const live: MerchantScope = { merchantId, environment: 'live' };
  await db.transaction(async (trx) => {
    await grantChannels(trx, live);
    await rows(
      trx,
      `INSERT INTO kyc_application (merchant_id, environment, status, tier) VALUES (:merchantId, :environment, 'APPROVED', 2)`,
      live,
    );
  });
  return live;
}

/** A payment of this amount, which the merchant can withdraw afterwards. */
export async function fund(fixture: Fixture, scope: MerchantScope, amountSantim: Santim): Promise<void> {
  const { sessionId } = await buildSession(fixture, scope, { amountSantim });
  const attemptId = await buildAttempt(fixture, { ...scope, sessionId });
  fixture.provider.returns({ ...PAID, amountSantim });
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
}

/**
 * Asserts that the simulator's payouts are exactly the submitted withdrawals, and that each channel has paid the sum of
 * the withdrawals with status SUCCESS or REVERSED.
 */
export async function expectPaidOutOnce(db: Database, simulator: TestSimulator): Promise<void> {
  const sent = await rows<{ id: string; channel: string; amountSantim: Santim; paid: boolean }>(
    db,
    `SELECT id, channel, amount_santim, status IN ('SUCCESS', 'REVERSED') AS paid FROM payout
     WHERE kind = 'withdrawal' AND submitted_at IS NOT NULL`,
  );
  const { payouts, totals } = await simulator.journal();
  expect(payouts.map(({ withdrawalId }) => withdrawalId).toSorted()).toEqual(sent.map(({ id }) => id).toSorted());
  for (const { submissions } of payouts) expect(submissions).toBeGreaterThanOrEqual(1);
  const paidOver = (wanted: string): Santim =>
    sent.reduce((sum, { channel, amountSantim, paid }) => sum + (paid && channel === wanted ? amountSantim : 0n), 0n);
  for (const [channel, { paidOut }] of Object.entries(totals)) {
    expect({ channel, paidOut }).toEqual({ channel, paidOut: formatBirr(paidOver(channel)) });
  }
}
