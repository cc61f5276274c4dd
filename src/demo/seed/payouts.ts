import { runAudited } from '../../access/operator-route.ts';
import { addisDay, DAY_MS, HOUR_MS, inAddis, startOfAddisDay } from '../../lib/dates.ts';
import { first } from '../../lib/db.ts';
import type { Santim } from '../../lib/money.ts';
import { REJECTED_SANTIM, SANDBOX_REVIEW_MS, WAITING_SANTIM } from '../../lib/sandbox-review.ts';
import type { PayoutOutcome } from '../../providers/provider.ts';
import { settlementAudit } from '../../settlements/audit.ts';
import { markCredited, markFailed, markSent } from '../../settlements/bank-results.ts';
import { createSettlement } from '../../settlements/create.ts';
import { autoDecide as reviewSettlement, cancelSettlement } from '../../settlements/decide.ts';
import { createWithdrawal } from '../../withdrawals/create.ts';
import { autoDecide as reviewWithdrawal, cancelWithdrawal } from '../../withdrawals/review.ts';
import { createCheckPayout } from '../../withdrawals/sync.ts';
import { DEMO_KEY_ID } from './demo.ts';
import { advance, scriptedProvider, silentLogger, type SeedContext, type HistoryItem } from './history.ts';
import { demoContext } from './operators.ts';
import { createRandom } from './random.ts';

type Paid = Extract<PayoutOutcome, { kind: 'succeeded' | 'reversed' }>;

const ACCEPTED: PayoutOutcome = { kind: 'accepted', providerReference: null, providerCode: '0' };
const PENDING: PayoutOutcome = { kind: 'pending', providerReference: null, providerCode: 'PROCESSING' };
const NO_SUCH_PAYEE: PayoutOutcome = {
  kind: 'declined',
  failure: {
    code: 'INVALID_PAYEE',
    message: 'telebirr does not know this phone number.',
    providerCode: 'INVALID_PAYEE',
    retryable: false,
  },
};

/** How a withdrawal ends: the provider's responses, call by call; `silent` and `underReview` are left open. */
const RESPONSES = {
  paid: (paid: Paid) => [ACCEPTED, paid],
  reversed: (paid: Paid) => [ACCEPTED, paid, { ...paid, kind: 'reversed' as const }],
  failed: () => [NO_SUCH_PAYEE],
  silent: () => [ACCEPTED, PENDING],
  cancelled: () => [],
  rejected: () => [],
  underReview: () => [],
} satisfies Record<string, (paid: Paid) => PayoutOutcome[]>;

type WithdrawalEnd = keyof typeof RESPONSES;

/** From the oldest to the newest; the newest two are still open. */
// oxfmt-ignore
const WITHDRAWALS: readonly WithdrawalEnd[] = [
  'paid', 'paid', 'paid', 'paid', 'failed', 'paid', 'paid', 'paid', 'paid', 'cancelled',
  'paid', 'rejected', 'paid', 'paid', 'paid', 'reversed', 'paid', 'paid', 'silent', 'underReview',
];

/** Paid by telebirr; the sandbox's phones decide the outcome (src/lib/sandbox-providers.ts). */
const SUPPLIERS = [
  { phone: '251911000001', accountName: 'Sidama Growers Union' },
  { phone: '251911000005', accountName: 'Harar Roasters' },
  { phone: '251911000007', accountName: 'Tigist Alemu' },
] as const;
const BENEFICIARIES: Partial<Record<WithdrawalEnd, { phone: string; accountName: string }>> = {
  failed: { phone: '251911000002', accountName: 'Kaldi Transport' },
  silent: { phone: '251911000004', accountName: 'Bole Packaging' },
  reversed: { phone: '251911000006', accountName: 'Dawit Bekele' },
};

/** How a settlement ends; those from `requested` on are left open. */
type SettlementEnd = 'credited' | 'failed' | 'rejected' | 'cancelled' | 'requested' | 'approved' | 'processing';

/** One a week, from the oldest to the newest. */
// oxfmt-ignore
const SETTLEMENTS: readonly SettlementEnd[] = [
  'credited', 'credited', 'credited', 'failed', 'credited', 'credited', 'rejected', 'credited', 'cancelled', 'credited',
];
/** Of the last days. */
const OPEN_SETTLEMENTS: readonly SettlementEnd[] = ['processing', 'approved', 'requested'];

/** The santim that decide the sandbox's review. */
const REVIEW_SANTIM: Partial<Record<WithdrawalEnd | SettlementEnd, Santim>> = {
  rejected: REJECTED_SANTIM,
  underReview: WAITING_SANTIM,
  requested: WAITING_SANTIM,
};

/** The sales that the amounts below suit. Fewer payments scale them down; below the minimum nothing is paid out. */
const PAYMENTS_USUAL = 3_000;
const PAYMENTS_MIN = 500;
const PROVIDER_TAKES_MS = 3_000;

/** `payments`: how many the shop gets in that time. */
type Sales = { seed: number; until: Date; days: number; payments: number };

/** The payouts of a shop that sells every day: a withdrawal every few days, a settlement a week. */
export function payoutItems({ seed, until, days, payments }: Sales): HistoryItem[] {
  if (payments < PAYMENTS_MIN) return [];
  const random = createRandom(seed);
  const drawAmount = (end: WithdrawalEnd | SettlementEnd, [from, to]: readonly [number, number]): Santim => {
    const birr = Math.round(((from + random.below(to - from)) * payments) / PAYMENTS_USUAL);
    return BigInt(birr) * 100n + (REVIEW_SANTIM[end] ?? 0n);
  };
  const before = (ms: number): Date => new Date(until.getTime() - ms);

  // The first after ten days of sales, the last a few hours ago.
  const stepMs = ((days - 10) * DAY_MS - 4 * HOUR_MS) / (WITHDRAWALS.length - 1);
  const withdrawals = WITHDRAWALS.map((end, index) => {
    const [at, left] = [before((days - 10) * DAY_MS - index * stepMs), WITHDRAWALS.length - 1 - index];
    const amountSantim = drawAmount(end, [1_000, 12_000]);
    const requestId = `SUPPLIER-${numbered(index)}`;
    const to = BENEFICIARIES[end] ?? random.pick(SUPPLIERS);
    return item(requestId, left === 0 ? at : atHour(at, 11), (context) =>
      withdraw(context, { requestId, amountSantim, end, to }),
    );
  });

  const requested = (end: SettlementEnd, index: number, at: Date): HistoryItem => {
    const amountSantim = drawAmount(end, [150_000, 240_000]);
    const requestId = `BANK-${numbered(index)}`;
    return item(requestId, at, (context) => settle(context, { requestId, amountSantim, end }));
  };
  const earliest = before((days - 4) * DAY_MS);
  const firstMondayMs = earliest.getTime() + ((8 - inAddis(earliest).getUTCDay()) % 7) * DAY_MS;
  const weekly = SETTLEMENTS.flatMap((end, index) => {
    const monday = new Date(firstMondayMs + index * 7 * DAY_MS);
    const request = requested(end, index, atHour(monday, 10));
    if (end !== 'credited' && end !== 'failed') return [request];
    const wednesday = atHour(new Date(monday.getTime() + 2 * DAY_MS), 12);
    const { key } = request;
    return [request, item(`${key} result`, wednesday, (context) => recordBankResult(context, key, end))];
  });
  const open = OPEN_SETTLEMENTS.map((end, index) =>
    requested(end, SETTLEMENTS.length + index, before((OPEN_SETTLEMENTS.length - index) * 18 * HOUR_MS)),
  );
  return [...withdrawals, ...weekly, ...open];
}

function item(key: string, at: Date, seed: HistoryItem['seed']): HistoryItem {
  return { key, begunAt: at, completedAt: at, isAlone: true, seed };
}

function numbered(index: number): string {
  return String(index + 1).padStart(3, '0');
}

/** At this hour of an instant's day in Addis Ababa. */
function atHour(instant: Date, hour: number): Date {
  return new Date(startOfAddisDay(addisDay(instant)).getTime() + hour * HOUR_MS);
}

type Payout<End> = { requestId: string; amountSantim: Santim; end: End };

async function withdraw(
  context: SeedContext,
  { requestId, amountSantim, end, to }: Payout<WithdrawalEnd> & { to: { phone: string; accountName: string } },
): Promise<void> {
  const { scope, tx, runInTransaction, clock } = context;
  const db = tx.trx;
  const details = { providerReference: `DEMO${requestId}`, providerCode: 'COMPLETED' };
  const responses: PayoutOutcome[] = RESPONSES[end]({ kind: 'succeeded', amountSantim, currency: 'ETB', ...details });
  const respond = async (): Promise<PayoutOutcome> => responses.shift() ?? PENDING;
  const script = { capabilities: { payoutTo: ['phone'] }, payout: respond, queryPayout: respond } as const;
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
  if (end === 'cancelled') return void (await cancelWithdrawal(tx, row, clock()));
  await reviewWithdrawal({ db, runInTransaction }, row.id, clock());
  const check = createCheckPayout({ ...context, db, findProvider, log: silentLogger });
  while (responses.length > 0) {
    advance(context, PROVIDER_TAKES_MS);
    const { queried } = await check(row.id, { minIntervalMs: 0, notifyWorkflow: false });
    if (!queried) throw new Error(`${requestId} cannot be paid out: no call reached its provider.`);
  }
}

async function settle(context: SeedContext, { requestId, amountSantim, end }: Payout<SettlementEnd>): Promise<void> {
  const { scope, tx, runInTransaction, clock } = context;
  const { row } = await createSettlement({ tx, clock }, scope, {
    requestId,
    amount: amountSantim,
    requestedBy: DEMO_KEY_ID,
  });
  advance(context, SANDBOX_REVIEW_MS);
  if (end === 'cancelled') return void (await cancelSettlement(tx, row, { keyId: DEMO_KEY_ID, at: clock() }));
  await reviewSettlement({ db: tx.trx, runInTransaction }, row.id, clock());
  if (end !== 'credited' && end !== 'failed' && end !== 'processing') return;
  advance(context, HOUR_MS);
  const audited = demoContext(tx, clock());
  await runAudited(audited, { action: 'settlement.sent' }, async () => ({
    audit: settlementAudit(await markSent(tx, row.id, { ...audited, bankReference: `CBE-${requestId}` })),
  }));
}

/** The bank's result of a settlement, days after it was requested. Idempotent. */
async function recordBankResult({ scope, tx, clock }: SeedContext, requestId: string, end: 'credited' | 'failed') {
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
