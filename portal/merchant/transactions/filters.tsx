import { useState, type FormEvent, type ReactNode } from 'react';

import { TRANSACTION_THROUGH } from '../../../src/merchants/channels/channel.ts';
import { TRANSACTION_STATUSES } from '../../../src/payments/states.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ChoiceFilter, DateFilter, FilterChip, ListFilter } from '../../ui/filters.tsx';
import { Icon } from '../../ui/icon.tsx';
import { listOf } from '../../ui/search-params.ts';
import { text as kit } from '../../ui/text.ts';
import { STATES } from '../../ui/transaction-state.tsx';
import { NO_FILTER, RANGE_NAMES, type RangeName, type TransactionSearch } from './search.ts';
import { text } from './text.ts';

type Props = { search: TransactionSearch; onChange: (changes: Partial<TransactionSearch>) => void };

const RANGE_TEXTS: Record<RangeName, string> = {
  today: text.today,
  yesterday: text.yesterday,
  week: text.thisWeek,
  '7d': text.days7,
  '30d': text.days30,
  '90d': text.days90,
};

const NAMES = Object.keys(NO_FILTER) as (keyof TransactionSearch)[];

/** Every filter of the list, each with its value in sight. */
export function Filters({ search, onChange, children }: Props & { children: ReactNode }) {
  const { range = '30d', startDate, endDate, status, transactionThrough, type } = search;
  const days = startDate && endDate ? { startDate, endDate } : null;
  const chooseRange = (name: RangeName): void => onChange({ range: name, startDate: undefined, endDate: undefined });
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line p-3">
      <SearchField search={search} onChange={onChange} />
      <DateFilter
        name={text.date}
        value={days}
        preset={RANGE_TEXTS[range]}
        presets={RANGE_NAMES.map((name) => [RANGE_TEXTS[name], () => chooseRange(name)] as const)}
        onChange={(chosen) => onChange({ range: undefined, ...chosen })}
      />
      <ListFilter
        name={text.status}
        values={TRANSACTION_STATUSES.map((value) => [value, STATES[value]] as const)}
        chosen={listOf(status)}
        onChange={(chosen) => onChange({ status: chosen })}
      />
      <ListFilter
        name={text.channel}
        values={Object.values(TRANSACTION_THROUGH).map((value) => [value, value] as const)}
        chosen={listOf(transactionThrough)}
        onChange={(chosen) => onChange({ transactionThrough: chosen })}
      />
      <ChoiceFilter
        name={text.type}
        values={TYPES}
        chosen={type}
        onChange={(chosen) => onChange({ type: chosen as TransactionSearch['type'] })}
      />
      <AmountFilter search={search} onChange={onChange} />
      <AttentionFilters search={search} onChange={onChange} />
      {/* On a wide screen the heads of the columns are buttons. */}
      <div className="md:hidden">
        <ChoiceFilter
          name={text.order}
          values={ORDERS}
          chosen={search.sort}
          onChange={(chosen) => onChange({ sort: chosen as TransactionSearch['sort'] })}
        />
      </div>
      {NAMES.some((name) => search[name] !== undefined) && (
        <Button kind="plain" icon="close" onClick={() => onChange(NO_FILTER)}>
          {text.clearFilters}
        </Button>
      )}
      {children}
    </div>
  );
}

/** What somebody should look into. */
function AttentionFilters({ search: { held, minAgeMinutes }, onChange }: Props) {
  return (
    <>
      <ChoiceFilter
        name={text.heldMoney}
        values={HELD}
        chosen={held}
        onChange={(chosen) => onChange({ held: chosen as TransactionSearch['held'] })}
      />
      <ChoiceFilter
        name={text.age}
        values={AGES}
        chosen={minAgeMinutes?.toString()}
        onChange={(chosen) => onChange({ minAgeMinutes: chosen === undefined ? undefined : Number(chosen) })}
      />
    </>
  );
}

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

const TYPES = [
  ['API', 'API'],
  ['QRCODE', 'QRCODE'],
] as const;

function SearchField({ search, onChange }: Props) {
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const wanted = new FormData(event.currentTarget).get('search');
    onChange({ search: (typeof wanted === 'string' && wanted.trim()) || undefined });
  };
  return (
    <search className="min-w-0 max-sm:w-full">
      <form onSubmit={submit} className="relative">
        <Icon name="search" className="pointer-events-none absolute top-2.5 left-2.5 text-quiet" />
        <input
          // A new key shows what the address holds after "back" and "clear".
          key={search.search ?? ''}
          name="search"
          type="search"
          maxLength={100}
          defaultValue={search.search}
          aria-label={text.searchLabel}
          placeholder={text.searchLabel}
          className="control w-full ps-8 sm:w-60"
          onChange={(event) => {
            if (event.target.value === '' && search.search !== undefined) onChange({ search: undefined });
          }}
        />
      </form>
    </search>
  );
}

const BIRR = /^\d{1,12}(\.\d{1,2})?$/;
type Amounts = Pick<TransactionSearch, 'minAmount' | 'maxAmount'>;

function AmountFilter({ search: { minAmount, maxAmount }, onChange }: Props) {
  const isSet = minAmount !== undefined || maxAmount !== undefined;
  return (
    <FilterChip name={text.amount} value={isSet ? `${minAmount ?? '0'} – ${maxAmount ?? '…'} ETB` : undefined}>
      {(close) => (
        <AmountForm
          initial={{ minAmount, maxAmount }}
          onChange={(amounts) => {
            onChange(amounts);
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
