import { addisDay, DAY_MS, HOUR_MS, inAddis, startOfAddisDay } from '../../lib/dates.ts';
import type { Santim } from '../../lib/money.ts';
import { REJECTED_SANTIM, WAITING_SANTIM } from '../../lib/sandbox-review.ts';
import { createRandom, type Random } from './random.ts';

/** What becomes of a withdrawal; those `silent` and `underReview` are left open. */
export type WithdrawalEnd = 'paid' | 'failed' | 'rejected' | 'cancelled' | 'reversed' | 'silent' | 'underReview';

/** What becomes of a settlement; those from `requested` on are left open. */
export type SettlementEnd = 'credited' | 'failed' | 'rejected' | 'cancelled' | 'requested' | 'approved' | 'processing';

/** One thing that moves money out, at its time. The bank's answer to a settlement comes days after it was asked for. */
export type PlannedMove = { createdAt: Date; requestId: string } & (
  | { move: 'withdraw'; amountSantim: Santim; end: WithdrawalEnd; to: Beneficiary }
  | { move: 'settle'; amountSantim: Santim; end: SettlementEnd }
  | { move: 'bankResults'; end: 'credited' | 'failed' }
);

/** Paid by telebirr; the sandbox's phones say what becomes of it (src/lib/sandbox-providers.ts). */
export type Beneficiary = { phone: string; accountName: string };

const SUPPLIERS: readonly [Beneficiary, ...Beneficiary[]] = [
  { phone: '251911000001', accountName: 'Sidama Growers Union' },
  { phone: '251911000005', accountName: 'Harar Roasters' },
  { phone: '251911000007', accountName: 'Tigist Alemu' },
];
const NEVER_ANSWERS: Beneficiary = { phone: '251911000004', accountName: 'Bole Packaging' };
const UNKNOWN_PAYEE: Beneficiary = { phone: '251911000002', accountName: 'Kaldi Transport' };
const COMES_BACK: Beneficiary = { phone: '251911000006', accountName: 'Dawit Bekele' };

/** From the oldest to the newest; the newest two are still open. */
const WITHDRAWALS: readonly WithdrawalEnd[] = [
  ...Array<WithdrawalEnd>(4).fill('paid'),
  'failed',
  ...Array<WithdrawalEnd>(4).fill('paid'),
  'cancelled',
  'paid',
  'rejected',
  ...Array<WithdrawalEnd>(3).fill('paid'),
  'reversed',
  'paid',
  'paid',
  'silent',
  'underReview',
];

/** One a week, from the oldest to the newest; the last three are of the last days. */
const SETTLEMENTS: readonly SettlementEnd[] = [
  ...Array<SettlementEnd>(3).fill('credited'),
  'failed',
  'credited',
  'credited',
  'rejected',
  'credited',
  'cancelled',
  'credited',
  'processing',
  'approved',
  'requested',
];

const OPEN_SETTLEMENTS = 3;

/** What the amounts below are made for: a shop that sells less moves less, and one that hardly sells moves nothing. */
const PAYMENTS_USUAL = 3_000;
const PAYMENTS_MIN = 500;

/** Money out of a shop that sells every day: a withdrawal every few days, a settlement a week; the earliest first. */
export function planMoves(plan: Span & { seed: number }): PlannedMove[] {
  if (plan.payments < PAYMENTS_MIN) return [];
  const random = createRandom(plan.seed);
  return [...planWithdrawals(random, plan), ...planSettlements(random, plan)].toSorted(
    (a, b) => a.createdAt.getTime() - b.createdAt.getTime(),
  );
}

/** `payments`: how many the shop gets in that time. */
type Span = { until: Date; days: number; payments: number };

/** The first after ten days of sales; the last a few hours ago. */
function planWithdrawals(random: Random, { until, days, payments }: Span): PlannedMove[] {
  const firstMs = until.getTime() - (days - 10) * DAY_MS;
  const lastMs = until.getTime() - 4 * HOUR_MS;
  const stepMs = (lastMs - firstMs) / (WITHDRAWALS.length - 1);
  return WITHDRAWALS.map((end, index) => ({
    move: 'withdraw' as const,
    createdAt: index === WITHDRAWALS.length - 1 ? new Date(lastMs) : atHour(new Date(firstMs + index * stepMs), 11),
    requestId: `SUPPLIER-${String(index + 1).padStart(3, '0')}`,
    amountSantim: amount(random, { end, payments, fromBirr: 1_000, toBirr: 12_000 }),
    end,
    to: beneficiary(random, end),
  }));
}

/** At this hour of an instant's day in Addis Ababa. */
function atHour(instant: Date, hour: number): Date {
  return new Date(startOfAddisDay(addisDay(instant)).getTime() + hour * HOUR_MS);
}

function beneficiary(random: Random, end: WithdrawalEnd): Beneficiary {
  if (end === 'failed') return UNKNOWN_PAYEE;
  if (end === 'reversed') return COMES_BACK;
  return end === 'silent' ? NEVER_ANSWERS : random.pick(SUPPLIERS);
}

/** Asked for on a Monday at ten; the bank answers on Wednesday. The open ones are of the last days. */
function planSettlements(random: Random, { until, days, payments }: Span): PlannedMove[] {
  const weeks = SETTLEMENTS.length - OPEN_SETTLEMENTS;
  const first = nextMonday(new Date(until.getTime() - (days - 4) * DAY_MS));
  return SETTLEMENTS.flatMap((end, index): PlannedMove[] => {
    const monday = atHour(new Date(first.getTime() + index * 7 * DAY_MS), 10);
    const lately = new Date(until.getTime() - (SETTLEMENTS.length - index) * 18 * HOUR_MS);
    const createdAt = index < weeks ? monday : lately;
    const requestId = `BANK-${String(index + 1).padStart(3, '0')}`;
    const requested = {
      move: 'settle' as const,
      createdAt,
      requestId,
      amountSantim: amount(random, { end, payments, fromBirr: 150_000, toBirr: 240_000 }),
      end,
    };
    if (end !== 'credited' && end !== 'failed') return [requested];
    const wednesday = atHour(new Date(createdAt.getTime() + 2 * DAY_MS), 12);
    return [requested, { move: 'bankResults', createdAt: wednesday, requestId, end }];
  });
}

function nextMonday(instant: Date): Date {
  const weekday = inAddis(instant).getUTCDay();
  return new Date(instant.getTime() + ((8 - weekday) % 7) * DAY_MS);
}

/** Whole birr, but where the sandbox looks at the santim. */
function amount(random: Random, wanted: { end: string; payments: number; fromBirr: number; toBirr: number }): Santim {
  const usual = wanted.fromBirr + random.below(wanted.toBirr - wanted.fromBirr);
  const birr = BigInt(Math.round((usual * wanted.payments) / PAYMENTS_USUAL)) * 100n;
  if (wanted.end === 'rejected') return birr + REJECTED_SANTIM;
  return wanted.end === 'underReview' || wanted.end === 'requested' ? birr + WAITING_SANTIM : birr;
}
