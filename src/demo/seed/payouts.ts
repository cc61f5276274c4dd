import { runAudited } from '../../access/operator-route.ts';
import { addisDay, DAY_MS, HOUR_MS, inAddis, startOfAddisDay } from '../../lib/dates.ts';
import { first } from '../../lib/db.ts';
import type { Santim } from '../../lib/money.ts';
import { REJECTED_SANTIM, SANDBOX_REVIEW_MS, WAITING_SANTIM } from '../../lib/sandbox-review.ts';
import { createCheck } from '../../payouts/check.ts';
import { createWithdrawal } from '../../payouts/withdrawals/create.ts';
import { autoDecide as reviewWithdrawal, cancelWithdrawal } from '../../payouts/withdrawals/review.ts';
import { WITHDRAWAL } from '../../payouts/withdrawals/withdrawal.ts';
import type { PayoutOutcome } from '../../providers/provider.ts';
import { markCredited, markFailed, markSent } from '../../settlements/bank-results.ts';
import { createSettlement } from '../../settlements/create.ts';
import { autoDecide as reviewSettlement, cancelSettlement } from '../../settlements/decide.ts';
import { settlementAudit } from '../../settlements/transition.ts';
import { DEMO_KEY_ID } from './demo.ts';
import { advance, scriptedProvider, silentLogger, type SeedContext, type HistoryItem } from './history.ts';
import { demoContext } from './merchants.ts';

const NO_SUCH_PAYEE = {
  code: 'INVALID_PAYEE',
  message: 'telebirr does not know this phone number.',
  providerCode: 'INVALID_PAYEE',
  retryable: false,
} as const;

/** One withdrawal: the provider's responses, call by call, unless the merchant cancels it or the review ends it. */
type PlannedWithdrawal = {
  responses: readonly ('accepted' | 'pending' | 'succeeded' | 'declined' | 'reversed')[];
  to: { phone: string; accountName: string };
  isCancelled?: boolean;
  /** Added to the amount: the santim decide the sandbox's review. */
  reviewSantim?: Santim;
};

/**
 * Paid by telebirr; the sandbox's phones decide the outcome (src/lib/sandbox-providers.ts). The first is the payee of
 * README.md, whom another name would send to review.
 */
const SUPPLIERS = [
  { phone: '251911000001', accountName: 'Abebe Bikila' },
  { phone: '251911000005', accountName: 'Harar Roasters' },
  { phone: '251911000007', accountName: 'Tigist Alemu' },
] as const;
/** Of these withdrawals, from the oldest to the newest, all others are paid; the newest two are still open. */
const WITHDRAWALS = 20;
const UNPAID_WITHDRAWALS: Readonly<Record<number, Partial<PlannedWithdrawal>>> = {
  4: { responses: ['declined'], to: { phone: '251911000002', accountName: 'Kaldi Transport' } },
  9: { responses: [], isCancelled: true },
  11: { responses: [], reviewSantim: REJECTED_SANTIM },
  15: {
    responses: ['accepted', 'succeeded', 'reversed'],
    to: { phone: '251911000006', accountName: 'Dawit Bekele' },
  },
  18: { responses: ['accepted', 'pending'], to: { phone: '251911000004', accountName: 'Bole Packaging' } },
  19: { responses: [], reviewSantim: WAITING_SANTIM },
};

/** One settlement a week, then one after the other in the last days; those are left open. */
// oxfmt-ignore
const SETTLEMENTS = [
  'credited', 'credited', 'credited', 'failed', 'credited', 'credited', 'rejected', 'credited', 'cancelled', 'credited',
  'processing', 'approved', 'requested',
] as const;
const OPEN_SETTLEMENTS = 3;

type SettlementEnd = (typeof SETTLEMENTS)[number];
type Payout = { requestId: string; amountSantim: Santim };

const REVIEW_SANTIM: Partial<Record<SettlementEnd, Santim>> = { rejected: REJECTED_SANTIM, requested: WAITING_SANTIM };

/** The sales that the amounts below suit. Fewer payments scale them down; below the minimum nothing is paid out. */
const PAYMENTS_USUAL = 3_000;
const PAYMENTS_MIN = 500;
const PROVIDER_TAKES_MS = 3_000;

/** `payments`: how many the shop gets in that time. */
type Sales = { until: Date; days: number; payments: number };

/** The payouts of a shop that sells every day: a withdrawal every few days, a settlement a week. */
export function payoutItems({ until, days, payments }: Sales): HistoryItem[] {
  if (payments < PAYMENTS_MIN) return [];
  const before = (ms: number): Date => new Date(until.getTime() - ms);
  const amountOf = (birr: number, reviewSantim = 0n): Santim =>
    BigInt(Math.round((birr * payments) / PAYMENTS_USUAL)) * 100n + reviewSantim;

  // The first after ten days of sales, the last a few hours ago.
  const betweenMs = ((days - 10) * DAY_MS - 4 * HOUR_MS) / (WITHDRAWALS - 1);
  const withdrawals = Array.from({ length: WITHDRAWALS }, (_, index) => {
    const to = SUPPLIERS[index % SUPPLIERS.length] ?? SUPPLIERS[0];
    const plan: PlannedWithdrawal = { responses: ['accepted', 'succeeded'], to, ...UNPAID_WITHDRAWALS[index] };
    const amountSantim = amountOf(1_000 + ((index * 7_919) % 11_000), plan.reviewSantim);
    const at = before(4 * HOUR_MS + (WITHDRAWALS - 1 - index) * betweenMs);
    return item(`SUPPLIER-${numbered(index)}`, at, (context, requestId) =>
      withdraw(context, { requestId, amountSantim }, plan),
    );
  });

  // After a week of sales, on Mondays at ten; the bank's result follows on Wednesday.
  const earliest = startOfAddisDay(addisDay(before((days - 9) * DAY_MS)));
  const toMonday = (8 - inAddis(earliest).getUTCDay()) % 7;
  const settlements = SETTLEMENTS.flatMap((end, index) => {
    const amountSantim = amountOf(150_000 + ((index * 31_337) % 90_000), REVIEW_SANTIM[end]);
    const left = SETTLEMENTS.length - index;
    const monday = new Date(earliest.getTime() + (toMonday + index * 7) * DAY_MS + 10 * HOUR_MS);
    const at = left > OPEN_SETTLEMENTS ? monday : before(left * 18 * HOUR_MS);
    const request = item(`BANK-${numbered(index)}`, at, (context, requestId) =>
      settle(context, { requestId, amountSantim, end }),
    );
    if (end !== 'credited' && end !== 'failed') return [request];
    const wednesday = new Date(monday.getTime() + 50 * HOUR_MS);
    return [request, item(`${request.key} result`, wednesday, (context) => recordResult(context, request.key, end))];
  });
  return [...withdrawals, ...settlements];
}

function item(key: string, at: Date, seed: (context: SeedContext, key: string) => Promise<void>): HistoryItem {
  return { key, begunAt: at, completedAt: at, isAlone: true, seed: (context) => seed(context, key) };
}

function numbered(index: number): string {
  return String(index + 1).padStart(3, '0');
}

async function withdraw(
  context: SeedContext,
  { requestId, amountSantim }: Payout,
  { to, isCancelled, ...plan }: PlannedWithdrawal,
): Promise<void> {
  const { scope, tx, runInTransaction, clock } = context;
  const db = tx.trx;
  const details = { amountSantim, currency: 'ETB', providerReference: `DEMO${requestId}`, providerCode: null };
  const responses = [...plan.responses];
  // Each kind of response has its own of these fields.
  const respond = async (): Promise<PayoutOutcome> => ({
    kind: responses.shift() ?? 'pending',
    ...details,
    failure: NO_SUCH_PAYEE,
  });
  const script = {
    capabilities: { payoutTo: ['phone'], refunds: false },
    payout: respond,
    queryPayout: respond,
  } as const;
  const findProvider = scriptedProvider('TELEBIRR', script);
  const { row } = await createWithdrawal({ tx, clock, findProvider }, scope, {
    requestId,
    amountSantim,
    channel: 'TELEBIRR',
    destination: { kind: 'phone', ...to },
    reason: 'Supplies',
    requestedBy: DEMO_KEY_ID,
  });
  advance(context, SANDBOX_REVIEW_MS);
  if (isCancelled) return void (await cancelWithdrawal(tx, row, clock()));
  await reviewWithdrawal({ runInTransaction }, row.id, clock());
  const check = createCheck({ ...context, db, findProvider, log: silentLogger }, WITHDRAWAL);
  while (responses.length > 0) {
    advance(context, PROVIDER_TAKES_MS);
    const { queried } = await check(row.id, { minIntervalMs: 0, notifyWorkflow: false });
    if (!queried) throw new Error(`${requestId} cannot be paid out: no call reached its provider.`);
  }
}

async function settle(
  context: SeedContext,
  { requestId, amountSantim, end }: Payout & { end: SettlementEnd },
): Promise<void> {
  const { scope, tx, runInTransaction, clock } = context;
  const { row } = await createSettlement({ tx, clock }, scope, {
    requestId,
    amount: amountSantim,
    requestedBy: DEMO_KEY_ID,
  });
  advance(context, SANDBOX_REVIEW_MS);
  if (end === 'cancelled') return void (await cancelSettlement(tx, row, { actor: DEMO_KEY_ID, at: clock() }));
  await reviewSettlement({ runInTransaction }, row.id, clock());
  if (end !== 'credited' && end !== 'failed' && end !== 'processing') return;
  advance(context, HOUR_MS);
  const audited = demoContext(tx, clock());
  await runAudited(audited, { action: 'settlement.sent' }, async () => ({
    audit: settlementAudit(await markSent(tx, row.id, { ...audited, bankReference: `CBE-${requestId}` })),
  }));
}

/** The bank's result of a settlement, days after it was requested. Idempotent. */
async function recordResult({ scope, tx, clock }: SeedContext, requestId: string, end: 'credited' | 'failed') {
  const found = await first<{ id: string }>(
    tx.trx,
    `SELECT id FROM settlement WHERE merchant_id = :merchantId AND environment = :environment
       AND request_id = :requestId AND status = 'PROCESSING'`,
    { ...scope, requestId },
  );
  if (!found) return;
  const audited = demoContext(tx, clock());
  const result = { ...audited, bankReference: `CBE-${requestId}` };
  const reason = end === 'failed' ? 'The bank sent it back: the account is dormant.' : undefined;
  await runAudited(audited, { action: `settlement.${end}`, reason }, async () => ({
    audit: settlementAudit(
      reason === undefined
        ? await markCredited(tx, found.id, { ...result, creditedAt: audited.at })
        : await markFailed(tx, found.id, { ...result, reason }),
    ),
  }));
}
