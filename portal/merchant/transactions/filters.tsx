import { useState, type FormEvent } from 'react';

import { TRANSACTION_THROUGH } from '../../../src/merchants/channels/channel.ts';
import { TRANSACTION_STATUSES } from '../../../src/payments/states.ts';
import { Button } from '../../ui/button.tsx';
import { daysAgo, daysSinceMonday } from '../../ui/days.ts';
import { TextField } from '../../ui/field.tsx';
import type { Filter, FilterState } from '../../ui/filter-bar.tsx';
import { ChoiceFilter, FilterChip } from '../../ui/filters.tsx';
import type { Search } from '../../ui/search-params.ts';
import { text as kit } from '../../ui/text.ts';
import { STATES } from '../../ui/transaction-state.tsx';
import { text } from './text.ts';

/** Ranges of days that move with the calendar, by their name in the address: the days before today where it starts and ends. */
const RANGES: Readonly<Record<string, { name: string; days: readonly [from: number, until: number] }>> = {
  today: { name: text.today, days: [0, 0] },
  yesterday: { name: text.yesterday, days: [1, 1] },
  week: { name: text.thisWeek, days: [daysSinceMonday(), 0] },
  '7d': { name: text.days7, days: [6, 0] },
  '30d': { name: text.days30, days: [29, 0] },
  '90d': { name: text.days90, days: [89, 0] },
};

const HELD = [
  ['true', text.onlyHeld],
  ['false', text.notHeld],
] as const;
const AGES = [
  ['15', text.over15Minutes],
  ['60', text.overHour],
  ['1440', text.overDay],
] as const;

const ORDERS = [
  ['-createdAt', text.newestFirst],
  ['createdAt', text.oldestFirst],
  ['-amount', text.largestFirst],
  ['amount', text.smallestFirst],
] as const;

/** Every filter of the list. */
export const FILTERS: readonly Filter[] = [
  { kind: 'search', name: 'search', label: text.searchLabel },
  {
    kind: 'days',
    preset: text.days30,
    presets: Object.entries(RANGES).map(([range, { name }]) => [name, { range }] as const),
  },
  {
    kind: 'several',
    name: 'status',
    label: text.status,
    values: TRANSACTION_STATUSES.map((one) => [one, STATES[one]] as const),
  },
  { kind: 'several', name: 'transactionThrough', label: text.channel, values: Object.values(TRANSACTION_THROUGH) },
  { kind: 'one', name: 'type', label: text.type, values: ['API', 'QRCODE'] },
  { kind: 'own', names: ['minAmount', 'maxAmount'], show: (state) => <AmountFilter {...state} /> },
  { kind: 'one', name: 'held', label: text.heldMoney, values: HELD },
  { kind: 'one', name: 'minAgeMinutes', label: text.age, values: AGES },
  { kind: 'own', names: [], show: (state) => <Order {...state} /> },
];

/** The filter as the API takes it: the same for the rows, their totals and the export. */
export function filterOf({ range = '', startDate, endDate, status = 'ALL', ...others }: Search) {
  const days = startDate && endDate ? { startDate, endDate } : daysAgo(RANGES[range]?.days ?? [29, 0]);
  const { minAmount, maxAmount, held, minAgeMinutes, ...plain } = others;
  return { ...plain, minAmount, maxAmount, held, minAgeMinutes, ...days, status, currency: 'ETB' };
}

/** On a wide screen the heads of the columns are buttons. */
function Order({ search: { sort }, change }: FilterState) {
  return (
    <div className="md:hidden">
      <ChoiceFilter name={text.order} values={ORDERS} chosen={sort} onChange={(chosen) => change({ sort: chosen })} />
    </div>
  );
}

const BIRR = /^\d{1,12}(\.\d{1,2})?$/;
type Amounts = { minAmount: string | undefined; maxAmount: string | undefined };

function AmountFilter({ chosen: { minAmount, maxAmount }, change }: FilterState) {
  const isSet = minAmount !== undefined || maxAmount !== undefined;
  return (
    <FilterChip name={text.amount} value={isSet ? `${minAmount ?? '0'} – ${maxAmount ?? '…'} ETB` : undefined}>
      {(close) => (
        <AmountForm
          initial={{ minAmount, maxAmount }}
          onChange={(amounts) => {
            change(amounts);
            close();
          }}
        />
      )}
    </FilterChip>
  );
}

function AmountForm({ initial, onChange }: { initial: Amounts; onChange: (amounts: Amounts) => void }) {
  const [amounts, setAmounts] = useState(initial);
  const { minAmount, maxAmount } = amounts;
  const problemOf = (amount: string | undefined) =>
    amount === undefined || BIRR.test(amount) ? undefined : text.wrongAmount;
  const isReversed = Number(minAmount ?? 0) > Number(maxAmount ?? Infinity);
  const isWrong = problemOf(minAmount) !== undefined || problemOf(maxAmount) !== undefined || isReversed;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isWrong) onChange(amounts);
  };
  return (
    <form onSubmit={submit} className="flex w-56 flex-col gap-2">
      <TextField
        label={text.minAmount}
        inputMode="decimal"
        value={minAmount ?? ''}
        error={problemOf(minAmount) ?? (isReversed ? text.wrongOrder : undefined)}
        onChange={(event) => setAmounts({ ...amounts, minAmount: event.target.value.trim() || undefined })}
      />
      <TextField
        label={text.maxAmount}
        inputMode="decimal"
        value={maxAmount ?? ''}
        error={problemOf(maxAmount)}
        onChange={(event) => setAmounts({ ...amounts, maxAmount: event.target.value.trim() || undefined })}
      />
      <Button type="submit" kind="primary">
        {kit.apply}
      </Button>
    </form>
  );
}
