import { useState, type FormEvent } from 'react';

import { TRANSACTION_THROUGH } from '../../../src/merchants/channels/channel.ts';
import { TRANSACTION_STATUSES } from '../../../src/payments/states.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import type { Filter, FilterState } from '../../ui/filter-bar.tsx';
import { ChoiceFilter, FilterChip } from '../../ui/filters.tsx';
import { BIRR } from '../../ui/format.ts';
import { text as kit } from '../../ui/text.ts';
import { STATES } from '../../ui/transaction-state.tsx';
import { RANGE_FILTER } from '../day-ranges.ts';
import { text } from './text.ts';

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
  RANGE_FILTER,
  {
    kind: 'several',
    name: 'status',
    label: text.status,
    values: TRANSACTION_STATUSES.map((one) => [one, STATES[one]] as const),
  },
  { kind: 'several', name: 'transactionThrough', label: text.channel, values: Object.values(TRANSACTION_THROUGH) },
  { kind: 'one', name: 'type', label: text.type, values: ['API', 'QRCODE'] },
  {
    kind: 'own',
    names: ['minAmount', 'maxAmount'],
    isKnown: (value) => isAmount(value),
    show: (state) => <AmountFilter {...state} />,
  },
  { kind: 'one', name: 'held', label: text.heldMoney, values: HELD },
  { kind: 'one', name: 'minAgeMinutes', label: text.age, values: AGES },
  { kind: 'own', names: [], show: (state) => <Order {...state} /> },
];

/** On a wide screen the heads of the columns are buttons. */
function Order({ search: { sort }, change }: FilterState) {
  return (
    <div className="md:hidden">
      <ChoiceFilter name={text.order} values={ORDERS} chosen={sort} onChange={(chosen) => change({ sort: chosen })} />
    </div>
  );
}

const isAmount = (value: string): boolean => /^\d{1,12}(\.\d{1,2})?$/.test(value) && Number(value) > 0;
type Amounts = { minAmount: string | undefined; maxAmount: string | undefined };

function AmountFilter({ chosen: { minAmount, maxAmount }, change }: FilterState) {
  const isSet = minAmount !== undefined || maxAmount !== undefined;
  return (
    <FilterChip name={text.amount} value={isSet ? `${minAmount ?? '0'} – ${maxAmount ?? '…'} ${BIRR}` : undefined}>
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
    amount === undefined || isAmount(amount) ? undefined : kit.wrongAmount;
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
