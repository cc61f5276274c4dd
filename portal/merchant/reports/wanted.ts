import { addisDay, isDay } from '../../../src/lib/dates.ts';
import { CHANNELS } from '../../../src/merchants/channels/channel.ts';
import { TRANSACTION_STATUSES } from '../../../src/payments/states.ts';
import { REFUND_STATUSES } from '../../../src/payouts/refunds/states.ts';
import { WITHDRAWAL_STATUSES } from '../../../src/payouts/withdrawals/states.ts';
import { SETTLEMENT_STATUSES } from '../../../src/settlements/states.ts';
import { addressOf } from '../../ui/call.ts';
import { pickerCalendar } from '../../ui/format.ts';
import { STATES as REFUND_STATES } from '../../ui/refund-state.tsx';
import { listOf, type Search } from '../../ui/search-params.ts';
import { STATES as SETTLEMENT_STATES } from '../../ui/settlement-state.tsx';
import { STATES as TRANSACTION_STATES } from '../../ui/transaction-state.tsx';
import { STATES as WITHDRAWAL_STATES } from '../../ui/withdrawal-state.tsx';
import { CALENDARS, periodOf, PERIODS } from './period.ts';

export const KINDS = ['payments', 'refunds', 'withdrawals', 'settlements'] as const;

/** The kinds that a person may see. */
export const kindsFor = (may: (permission: string) => boolean) =>
  KINDS.filter((one) => one === 'payments' || may('reports:money'));

/** The formats of a file. */
export const FORMATS = ['CSV', 'XLSX', 'PDF'] as const;

/** The statuses of each kind in words. */
export const STATUSES = {
  payments: TRANSACTION_STATUSES.map((one) => [one, TRANSACTION_STATES[one]] as const),
  refunds: REFUND_STATUSES.map((one) => [one, REFUND_STATES[one]] as const),
  withdrawals: WITHDRAWAL_STATUSES.map((one) => [one, WITHDRAWAL_STATES[one]] as const),
  settlements: SETTLEMENT_STATUSES.map((one) => [one, SETTLEMENT_STATES[one]] as const),
} as const;

/** What the address asks for, with its defaults, the calendar's of the person, and its days. */
export function reportOf(search: Search) {
  const kind = KINDS.find((one) => one === search['kind']) ?? 'payments';
  const isKnown = (status: string): boolean => STATUSES[kind].some(([known]) => known === status);
  const status = listOf(search['status']).filter(isKnown).join(',') || undefined;
  const channel = CHANNELS.find((one) => one === search['channel']);
  const period = PERIODS.find((one) => one === search['period']) ?? 'month';
  const own = pickerCalendar() === 'ethiopic' ? 'ethiopian' : 'gregorian';
  const calendar = CALENDARS.find((one) => one === search['calendar']) ?? own;
  const date = search['date'] && isDay(search['date']) ? search['date'] : addisDay(new Date());
  return { kind, calendar, period, date, status, channel, days: periodOf(date, { period, calendar }) };
}
export type WantedReport = ReturnType<typeof reportOf>;

/** The address of a report's file. */
export const fileAddress = (reportId: string): string =>
  addressOf('GET /api/checkout/reports/:reportId/file', { params: { reportId } });
