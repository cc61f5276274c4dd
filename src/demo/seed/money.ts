import { runAudited } from '../../access/operator-route.ts';
import { HOUR_MS } from '../../lib/dates.ts';
import { rows } from '../../lib/db.ts';
import { SANDBOX_REVIEW_MS } from '../../lib/sandbox-review.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import type { PayoutOutcome, Provider } from '../../providers/provider.ts';
import { settlementAudit } from '../../settlements/audit.ts';
import { linkBankAccount } from '../../settlements/bank-account/link.ts';
import { markCredited, markFailed, markSent } from '../../settlements/bank-results.ts';
import { createSettlement } from '../../settlements/create.ts';
import { cancelSettlement } from '../../settlements/decide.ts';
import { autoDecide as reviewSettlement } from '../../settlements/sandbox.ts';
import { autoDecide as reviewWithdrawal } from '../../withdrawals/auto-decide.ts';
import { createWithdrawal } from '../../withdrawals/create.ts';
import { cancelWithdrawal } from '../../withdrawals/decide.ts';
import { createCheckPayout } from '../../withdrawals/sync.ts';
import { notUsed, SILENT, type Past } from './context.ts';
import { demoContext } from './operator.ts';
import type { PlannedMove } from './payout-plan.ts';

/** Who asks for the demo's money: a key of its own that nobody has. */
const REQUESTED_BY = 'key_demo';

const PROVIDER_TAKES_MS = 3_000;

/** The account that the demo's settlements go to, linked at this time. */
export async function linkDemoAccount(tx: UnitOfWork, scope: MerchantScope, at: Date): Promise<void> {
  await linkBankAccount(tx, scope, {
    bankCode: 'CBE',
    accountNumber: '1000204719583',
    accountName: 'Abyssinia Coffee PLC',
    requestedBy: REQUESTED_BY,
    at,
  });
}

/** Makes one move of the past by the operations that make today's. One that was made before stays as it is. */
export async function seedPayout(past: Past, move: PlannedMove): Promise<void> {
  if (move.move === 'withdraw') return withdraw(past, move);
  if (move.move === 'settle') return requestSettlement(past, move);
  await bankResults(past, move);
}

async function withdraw(past: Past, move: Extract<PlannedMove, { move: 'withdraw' }>): Promise<void> {
  const { scope, tx, runInTransaction } = past;
  const { requestId, amountSantim, end, to } = move;
  const clock = (): Date => past.time.now;
  const responses = payoutResults(move);
  const findProvider = () => scriptedPayouts(responses);
  const wanted = {
    requestId,
    amountSantim,
    channel: 'TELEBIRR',
    destination: { kind: 'phone', ...to },
    reason: 'Supplies',
    requestedBy: REQUESTED_BY,
  } as const;
  const { row, isNew } = await createWithdrawal({ tx, clock, findProvider }, scope, wanted);
  if (!isNew) return;
  pass(past, SANDBOX_REVIEW_MS);
  if (end === 'cancelled') return void (await cancelWithdrawal(tx, row, clock()));
  const db = tx.trx;
  await reviewWithdrawal({ db, runInTransaction }, row.id, clock());
  const check = createCheckPayout({ ...past, db, clock, findProvider, log: SILENT });
  while (responses.length > 0) {
    pass(past, PROVIDER_TAKES_MS);
    const { queried } = await check(row.id, { minIntervalMs: 0, notifyWorkflow: false });
    if (!queried) throw new Error(`${requestId} cannot be paid out: its provider was not asked`);
  }
}

function pass({ time }: Past, ms: number): void {
  time.now = new Date(time.now.getTime() + ms);
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

/** What the provider says of a payout, question by question. */
function payoutResults({ requestId, amountSantim, end }: Extract<PlannedMove, { move: 'withdraw' }>): PayoutOutcome[] {
  const about = { providerReference: `DEMO${requestId}`, providerCode: 'COMPLETED' };
  const paid: PayoutOutcome = { kind: 'succeeded', amountSantim, currency: 'ETB', ...about };
  if (end === 'paid') return [ACCEPTED, paid];
  if (end === 'reversed') return [ACCEPTED, paid, { ...paid, kind: 'reversed' }];
  if (end === 'failed') return [NO_SUCH_PAYEE];
  return end === 'silent' ? [ACCEPTED, PENDING] : [];
}

/** A provider that pays out by this script. */
function scriptedPayouts(responses: PayoutOutcome[]): Provider {
  const result = async (): Promise<PayoutOutcome> => responses.shift() ?? PENDING;
  return {
    channel: 'TELEBIRR',
    initiate: notUsed,
    query: notUsed,
    capabilities: { payoutTo: ['phone'] },
    payout: result,
    queryPayout: result,
    statement: notUsed,
    parseCallback: () => ({ verified: false, problem: 'the past sends no callbacks' }),
    callbackResponse: { contentType: 'text/plain', body: '' },
  };
}

async function requestSettlement(past: Past, move: Extract<PlannedMove, { move: 'settle' }>): Promise<void> {
  const { scope, tx, runInTransaction } = past;
  const { requestId, amountSantim, end } = move;
  const clock = (): Date => past.time.now;
  const wanted = { requestId, amount: amountSantim, requestedBy: REQUESTED_BY };
  const { row, isNew } = await createSettlement({ tx, clock }, scope, wanted);
  if (!isNew) return;
  pass(past, SANDBOX_REVIEW_MS);
  if (end === 'cancelled') {
    await cancelSettlement(tx, row, { keyId: REQUESTED_BY, at: clock() });
    return;
  }
  await reviewSettlement({ db: tx.trx, runInTransaction }, row.id, clock());
  if (end !== 'credited' && end !== 'failed' && end !== 'processing') return;
  pass(past, HOUR_MS);
  const reference = bankReference(requestId);
  await runAudited(demoContext(tx, clock()), { action: 'settlement.sent' }, async (context) => ({
    audit: settlementAudit(await markSent(tx, row.id, { ...context, bankReference: reference })),
  }));
}

async function bankResults(past: Past, move: Extract<PlannedMove, { move: 'bankResults' }>): Promise<void> {
  const { scope, tx, time } = past;
  const [found] = await rows<{ id: string }>(
    tx.trx,
    `SELECT id FROM settlement WHERE merchant_id = :merchantId AND environment = :environment
       AND request_id = :requestId AND status = 'PROCESSING'`,
    { ...scope, requestId: move.requestId },
  );
  if (!found) return;
  const context = demoContext(tx, time.now);
  const result = { ...context, bankReference: bankReference(move.requestId) };
  if (move.end === 'failed') {
    const reason = 'The bank sent it back: the account is dormant.';
    await runAudited(context, { action: 'settlement.failed', reason }, async () => ({
      audit: settlementAudit(await markFailed(tx, found.id, { ...result, reason })),
    }));
    return;
  }
  await runAudited(context, { action: 'settlement.credited' }, async () => ({
    audit: settlementAudit(await markCredited(tx, found.id, { ...result, creditedAt: time.now })),
  }));
}

function bankReference(requestId: string): string {
  return `CBE-${requestId}`;
}
