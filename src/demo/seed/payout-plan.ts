import { addisDay, DAY_MS, HOUR_MS, inAddis, startOfAddisDay } from '../../lib/dates.ts';
import type { Santim } from '../../lib/money.ts';
import { REJECTED_SANTIM, WAITING_SANTIM } from '../../lib/sandbox-review.ts';
import { createRandom, type Random } from './random.ts';

/** How a withdrawal ends; `silent` and `underReview` are left open. */
export type WithdrawalEnd = 'paid' | 'failed' | 'rejected' | 'cancelled' | 'reversed' | 'silent' | 'underReview';

/** How a settlement ends; those from `requested` on are left open. */
export type SettlementEnd = 'credited' | 'failed' | 'rejected' | 'cancelled' | 'requested' | 'approved' | 'processing';

/** Paid by telebirr; the sandbox's phones decide the outcome (src/lib/sandbox-providers.ts). */
type Beneficiary = { phone: string; accountName: string };

/** Money that goes out, or the bank's result of a settlement, days after it was requested. */
export type PlannedPayout = { createdAt: Date; requestId: string } & (
  | { kind: 'withdrawal'; amountSantim: Santim; end: WithdrawalEnd; to: Beneficiary }
  | { kind: 'settlement'; amountSantim: Santim; end: SettlementEnd }
  | { kind: 'bankResult'; end: 'credited' | 'failed' }
);

export type Planned<Kind extends PlannedPayout['kind']> = Extract<PlannedPayout, { kind: Kind }>;

const SUPPLIERS: readonly Beneficiary[] = [
  { phone: '251911000001', accountName: 'Sidama Growers Union' },
  { phone: '251911000005', accountName: 'Harar Roasters' },
  { phone: '251911000007', accountName: 'Tigist Alemu' },
];
const BENEFICIARIES: Partial<Record<WithdrawalEnd, Beneficiary>> = {
  failed: { phone: '251911000002', accountName: 'Kaldi Transport' },
  silent: { phone: '251911000004', accountName: 'Bole Packaging' },
  reversed: { phone: '251911000006', accountName: 'Dawit Bekele' },
};

/** From the oldest to the newest; the newest two are still open. */
// oxfmt-ignore
const WITHDRAWALS: readonly WithdrawalEnd[] = [
  'paid', 'paid', 'paid', 'paid', 'failed', 'paid', 'paid', 'paid', 'paid', 'cancelled',
  'paid', 'rejected', 'paid', 'paid', 'paid', 'reversed', 'paid', 'paid', 'silent', 'underReview',
];

/** One a week, from the oldest to the newest. */
// oxfmt-ignore
const SETTLEMENTS: readonly SettlementEnd[] = [
  'credited', 'credited', 'credited', 'failed', 'credited', 'credited', 'rejected', 'credited', 'cancelled', 'credited',
];
/** Of the last days. */
const OPEN_SETTLEMENTS: readonly SettlementEnd[] = ['processing', 'approved', 'requested'];

/** The sales that the amounts below suit. Fewer payments scale them down; below the minimum nothing is paid out. */
const PAYMENTS_USUAL = 3_000;
const PAYMENTS_MIN = 500;

/** `payments`: how many the shop gets in that time. */
type Sales = { seed: number; until: Date; days: number; payments: number };

/** The payouts of a shop that sells every day: a withdrawal every few days, a settlement a week; the earliest first. */
export function planPayouts(sales: Sales): PlannedPayout[] {
  if (sales.payments < PAYMENTS_MIN) return [];
  const random = createRandom(sales.seed);
  return [...planWithdrawals(random, sales), ...planSettlements(random, sales)].toSorted(
    (a, b) => a.createdAt.getTime() - b.createdAt.getTime(),
  );
}

/** The first after ten days of sales; the last a few hours ago. */
function planWithdrawals(random: Random, { until, days, payments }: Sales): PlannedPayout[] {
  const firstMs = until.getTime() - (days - 10) * DAY_MS;
  const lastMs = until.getTime() - 4 * HOUR_MS;
  const stepMs = (lastMs - firstMs) / (WITHDRAWALS.length - 1);
  return WITHDRAWALS.map((end, index) => ({
    kind: 'withdrawal',
    createdAt: index === WITHDRAWALS.length - 1 ? new Date(lastMs) : atHour(new Date(firstMs + index * stepMs), 11),
    requestId: `SUPPLIER-${numbered(index)}`,
    amountSantim: amount(random, { end, payments, fromBirr: 1_000, toBirr: 12_000 }),
    end,
    to: BENEFICIARIES[end] ?? random.pick(SUPPLIERS),
  }));
}

/** Requested on a Monday at ten; the bank's result follows on Wednesday. */
function planSettlements(random: Random, { until, days, payments }: Sales): PlannedPayout[] {
  const first = nextMonday(new Date(until.getTime() - (days - 4) * DAY_MS));
  const settlement = (end: SettlementEnd, index: number, createdAt: Date): PlannedPayout => ({
    kind: 'settlement',
    createdAt,
    requestId: `BANK-${numbered(index)}`,
    amountSantim: amount(random, { end, payments, fromBirr: 150_000, toBirr: 240_000 }),
    end,
  });
  const weekly = SETTLEMENTS.flatMap((end, index): PlannedPayout[] => {
    const monday = atHour(new Date(first.getTime() + index * 7 * DAY_MS), 10);
    const requested = settlement(end, index, monday);
    if (end !== 'credited' && end !== 'failed') return [requested];
    const wednesday = atHour(new Date(monday.getTime() + 2 * DAY_MS), 12);
    return [requested, { kind: 'bankResult', createdAt: wednesday, requestId: requested.requestId, end }];
  });
  const open = OPEN_SETTLEMENTS.map((end, index) => {
    const createdAt = new Date(until.getTime() - (OPEN_SETTLEMENTS.length - index) * 18 * HOUR_MS);
    return settlement(end, SETTLEMENTS.length + index, createdAt);
  });
  return [...weekly, ...open];
}

function numbered(index: number): string {
  return String(index + 1).padStart(3, '0');
}

/** At this hour of an instant's day in Addis Ababa. */
function atHour(instant: Date, hour: number): Date {
  return new Date(startOfAddisDay(addisDay(instant)).getTime() + hour * HOUR_MS);
}

function nextMonday(instant: Date): Date {
  const weekday = inAddis(instant).getUTCDay();
  return new Date(instant.getTime() + ((8 - weekday) % 7) * DAY_MS);
}

/** Whole birr, except where the santim decide the sandbox's review. */
function amount(random: Random, wanted: { end: string; payments: number; fromBirr: number; toBirr: number }): Santim {
  const usual = wanted.fromBirr + random.below(wanted.toBirr - wanted.fromBirr);
  const birr = BigInt(Math.round((usual * wanted.payments) / PAYMENTS_USUAL)) * 100n;
  if (wanted.end === 'rejected') return birr + REJECTED_SANTIM;
  return wanted.end === 'underReview' || wanted.end === 'requested' ? birr + WAITING_SANTIM : birr;
}
