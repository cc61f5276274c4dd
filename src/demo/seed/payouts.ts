import { runAudited } from '../../access/operator-route.ts';
import { HOUR_MS } from '../../lib/dates.ts';
import { rows } from '../../lib/db.ts';
import { SANDBOX_REVIEW_MS } from '../../lib/sandbox-review.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import type { PayoutOutcome } from '../../providers/provider.ts';
import { linkBankAccount } from '../../settlements/bank-account/account.ts';
import { markCredited, markFailed, markSent } from '../../settlements/bank-results.ts';
import { createSettlement } from '../../settlements/create.ts';
import { autoDecide as reviewSettlement, cancelSettlement } from '../../settlements/decide.ts';
import { settlementAudit } from '../../settlements/transition.ts';
import { createWithdrawal } from '../../withdrawals/create.ts';
import { autoDecide as reviewWithdrawal, cancelWithdrawal } from '../../withdrawals/review.ts';
import { createCheckPayout } from '../../withdrawals/sync.ts';
import { advance, scriptedProvider, silentLogger, type SeedContext } from './context.ts';
import { demoContext } from './operator.ts';
import type { Planned, PlannedPayout } from './payout-plan.ts';

/** The requester of demo payouts: the id of a key that does not exist. */
const REQUESTED_BY = 'key_demo';
const PROVIDER_TAKES_MS = 3_000;

/** Links the bank account of the demo's settlements. */
export async function linkDemoAccount(tx: UnitOfWork, scope: MerchantScope, at: Date): Promise<void> {
  await linkBankAccount(tx, scope, {
    bankCode: 'CBE',
    accountNumber: '1000204719583',
    accountName: 'Abyssinia Coffee PLC',
    requestedBy: REQUESTED_BY,
    at,
  });
}

/** Seeds one past payout by today's operations. Idempotent. */
export async function seedPayout(context: SeedContext, payout: PlannedPayout): Promise<void> {
  if (payout.kind === 'withdrawal') return withdraw(context, payout);
  if (payout.kind === 'settlement') return requestSettlement(context, payout);
  await recordBankResult(context, payout);
}

async function withdraw(context: SeedContext, planned: Planned<'withdrawal'>): Promise<void> {
  const { requestId, amountSantim, end, to } = planned;
  const { scope, tx, runInTransaction, time } = context;
  const db = tx.trx;
  const clock = (): Date => time.now;
  const responses = payoutResults(planned);
  const respond = async (): Promise<PayoutOutcome> => responses.shift() ?? PENDING;
  const script = { capabilities: { payoutTo: ['phone'] }, payout: respond, queryPayout: respond } as const;
  const findProvider = () => scriptedProvider('TELEBIRR', script);
  const { row, isNew } = await createWithdrawal({ tx, clock, findProvider }, scope, {
    requestId,
    amountSantim,
    channel: 'TELEBIRR',
    destination: { kind: 'phone', ...to },
    reason: 'Supplies',
    requestedBy: REQUESTED_BY,
  });
  if (!isNew) return;
  advance(context, SANDBOX_REVIEW_MS);
  if (end === 'cancelled') return void (await cancelWithdrawal(tx, row, clock()));
  await reviewWithdrawal({ db, runInTransaction }, row.id, clock());
  const check = createCheckPayout({ ...context, db, clock, findProvider, log: silentLogger });
  while (responses.length > 0) {
    advance(context, PROVIDER_TAKES_MS);
    const { queried } = await check(row.id, { minIntervalMs: 0, notifyWorkflow: false });
    if (!queried) throw new Error(`${requestId} cannot be paid out: no call reached its provider.`);
  }
}

const PENDING: PayoutOutcome = { kind: 'pending', providerReference: null, providerCode: 'PROCESSING' };
const ACCEPTED: PayoutOutcome = { kind: 'accepted', providerReference: null, providerCode: '0' };
const NO_SUCH_PAYEE: PayoutOutcome = {
  kind: 'declined',
  failure: {
    code: 'INVALID_PAYEE',
    message: 'telebirr does not know this phone number.',
    providerCode: 'INVALID_PAYEE',
    retryable: false,
  },
};

/** The provider's responses, call by call. */
function payoutResults({ requestId, amountSantim, end }: Planned<'withdrawal'>): PayoutOutcome[] {
  const details = { providerReference: `DEMO${requestId}`, providerCode: 'COMPLETED' };
  const paid: PayoutOutcome = { kind: 'succeeded', amountSantim, currency: 'ETB', ...details };
  if (end === 'paid') return [ACCEPTED, paid];
  if (end === 'reversed') return [ACCEPTED, paid, { ...paid, kind: 'reversed' }];
  if (end === 'failed') return [NO_SUCH_PAYEE];
  return end === 'silent' ? [ACCEPTED, PENDING] : [];
}

async function requestSettlement(context: SeedContext, planned: Planned<'settlement'>): Promise<void> {
  const { scope, tx, runInTransaction, time } = context;
  const { requestId, amountSantim, end } = planned;
  const clock = (): Date => time.now;
  const request = { requestId, amount: amountSantim, requestedBy: REQUESTED_BY };
  const { row, isNew } = await createSettlement({ tx, clock }, scope, request);
  if (!isNew) return;
  advance(context, SANDBOX_REVIEW_MS);
  if (end === 'cancelled') return void (await cancelSettlement(tx, row, { keyId: REQUESTED_BY, at: clock() }));
  await reviewSettlement({ runInTransaction }, row.id, clock());
  if (end !== 'credited' && end !== 'failed' && end !== 'processing') return;
  advance(context, HOUR_MS);
  const reference = bankReference(requestId);
  await runAudited(demoContext(tx, clock()), { action: 'settlement.sent' }, async (audited) => ({
    audit: settlementAudit(await markSent(tx, row.id, { ...audited, bankReference: reference })),
  }));
}

async function recordBankResult(context: SeedContext, { requestId, end }: Planned<'bankResult'>): Promise<void> {
  const { scope, tx, time } = context;
  const [found] = await rows<{ id: string }>(
    tx.trx,
    `SELECT id FROM settlement WHERE merchant_id = :merchantId AND environment = :environment
       AND request_id = :requestId AND status = 'PROCESSING'`,
    { ...scope, requestId },
  );
  if (!found) return;
  const audited = demoContext(tx, time.now);
  const result = { ...audited, bankReference: bankReference(requestId) };
  if (end === 'failed') {
    const reason = 'The bank sent it back: the account is dormant.';
    await runAudited(audited, { action: 'settlement.failed', reason }, async () => ({
      audit: settlementAudit(await markFailed(tx, found.id, { ...result, reason })),
    }));
    return;
  }
  await runAudited(audited, { action: 'settlement.credited' }, async () => ({
    audit: settlementAudit(await markCredited(tx, found.id, { ...result, creditedAt: time.now })),
  }));
}

function bankReference(requestId: string): string {
  return `CBE-${requestId}`;
}
