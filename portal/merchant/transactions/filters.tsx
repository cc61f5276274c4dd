import { lazy, Suspense, useId, useState, type FormEvent, type ReactNode } from 'react';

import { TRANSACTION_THROUGH } from '../../../src/merchants/channels/channel.ts';
import { TRANSACTION_STATUSES } from '../../../src/payments/states.ts';
import { Button } from '../../ui/button.tsx';
import { Check, Choice, TextField } from '../../ui/field.tsx';
import { formatDay } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Popover } from '../../ui/popover.tsx';
import { listOf } from '../../ui/search-params.ts';
import { useShortcuts } from '../../ui/shortcuts.ts';
import { text as kit } from '../../ui/text.ts';
import { RANGE_NAMES, type RangeName, type TransactionSearch } from './search.ts';
import { text } from './text.ts';

const DayRangePicker = lazy(() =>
  import('../../ui/day-range-picker.tsx').then((file) => ({ default: file.DayRangePicker })),
);

type Props = { search: TransactionSearch; onChange: (changes: Partial<TransactionSearch>) => void };

const RANGE_TEXTS: Record<RangeName, string> = {
  today: text.today,
  yesterday: text.yesterday,
  '7d': text.days7,
  '30d': text.days30,
  '90d': text.days90,
};

/** Every filter of the list, each with its value in sight. */
export function Filters({ search, onChange, children }: Props & { children: ReactNode }) {
  const { range, startDate, status, transactionThrough, type, minAmount, maxAmount } = search;
  const isFiltered = [range, startDate, status, transactionThrough, type, minAmount, maxAmount, search.search].some(
    (value) => value !== undefined,
  );
  const clear = (): void => onChange(NOTHING);
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line p-3">
      <SearchField search={search} onChange={onChange} />
      <DateFilter search={search} onChange={onChange} />
      <ListFilter
        name={text.status}
        values={TRANSACTION_STATUSES.map((value) => [value, text[value]] as const)}
        chosen={listOf(status)}
        onChange={(chosen) => onChange({ status: chosen })}
      />
      <ListFilter
        name={text.channel}
        values={Object.values(TRANSACTION_THROUGH).map((value) => [value, value] as const)}
        chosen={listOf(transactionThrough)}
        onChange={(chosen) => onChange({ transactionThrough: chosen })}
      />
      <TypeFilter search={search} onChange={onChange} />
      <AmountFilter search={search} onChange={onChange} />
      {isFiltered && (
        <Button kind="plain" icon="close" onClick={clear}>
          {text.clearFilters}
        </Button>
      )}
      {children}
    </div>
  );
}

const NOTHING: Partial<TransactionSearch> = {
  range: undefined,
  startDate: undefined,
  endDate: undefined,
  status: undefined,
  transactionThrough: undefined,
  type: undefined,
  minAmount: undefined,
  maxAmount: undefined,
  search: undefined,
};

function SearchField({ search, onChange }: Props) {
  const id = useId();
  useShortcuts({ '/': () => document.getElementById(id)?.focus() });
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
          id={id}
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

/** A chip: the name of a filter and its value. */
function chip(name: string, value: string | undefined) {
  return (
    <>
      <span className={value === undefined ? '' : 'font-normal text-quiet'}>{name}</span>
      {value !== undefined && <span className="max-w-52 truncate text-brand">{value}</span>}
      <Icon name="down" className="size-3 text-quiet" />
    </>
  );
}

function DateFilter({ search, onChange }: Props) {
  const { range, startDate, endDate } = search;
  const isChosen = startDate !== undefined && endDate !== undefined;
  const days = isChosen
    ? startDate === endDate
      ? formatDay(startDate)
      : `${formatDay(startDate)} – ${formatDay(endDate)}`
    : RANGE_TEXTS[range ?? '30d'];
  const [isPicking, setPicking] = useState(isChosen);
  const choose = (close: () => void, changes: Partial<TransactionSearch>): void => {
    onChange({ range: undefined, startDate: undefined, endDate: undefined, ...changes });
    close();
  };
  return (
    <Popover button={chip(text.date, days)} icon="calendar" title={text.date}>
      {(close) => (
        <div className="flex flex-col gap-1">
          <div className="flex flex-col items-stretch gap-0.5">
            {RANGE_NAMES.map((name) => (
              <Button
                key={name}
                kind="plain"
                className="justify-start"
                aria-pressed={!isChosen && name === (range ?? '30d')}
                onClick={() => choose(close, { range: name })}
              >
                {RANGE_TEXTS[name]}
              </Button>
            ))}
          </div>
          {isPicking ? (
            <Suspense fallback={<div className="skeleton h-80 w-72" />}>
              <DayRangePicker
                value={isChosen ? { startDate, endDate } : null}
                onChange={(chosen) => choose(close, chosen)}
              />
            </Suspense>
          ) : (
            <Button kind="plain" className="justify-start" icon="calendar" onClick={() => setPicking(true)}>
              {text.chooseDays}
            </Button>
          )}
        </div>
      )}
    </Popover>
  );
}

type ListFilterProps = {
  name: string;
  values: readonly (readonly [value: string, text: string])[];
  chosen: readonly string[];
  onChange: (chosen: string | undefined) => void;
};

/** A filter of several values. */
function ListFilter({ name, values, chosen, onChange }: ListFilterProps) {
  const names = values.filter(([value]) => chosen.includes(value)).map(([, label]) => label);
  const toggle = (value: string, isChosen: boolean): void => {
    const next = values.map(([one]) => one).filter((one) => (one === value ? isChosen : chosen.includes(one)));
    onChange(next.length === 0 ? undefined : next.join(','));
  };
  return (
    <Popover button={chip(name, names.length === 0 ? undefined : names.join(', '))} title={name}>
      {() =>
        values.map(([value, label]) => (
          <Check
            key={value}
            label={label}
            isChecked={chosen.includes(value)}
            onChange={(isChecked) => toggle(value, isChecked)}
          />
        ))
      }
    </Popover>
  );
}

function TypeFilter({ search: { type }, onChange }: Props) {
  return (
    <Popover button={chip(text.type, type)} title={text.type}>
      {(close) => (
        <Choice
          label={text.type}
          value={type ?? ''}
          options={[
            ['', text.any],
            ['API', 'API'],
            ['QRCODE', 'QRCODE'],
          ]}
          onChange={(chosen) => {
            onChange({ type: chosen === '' ? undefined : chosen });
            close();
          }}
        />
      )}
    </Popover>
  );
}

const BIRR = /^\d{1,12}(\.\d{1,2})?$/;

function AmountFilter({ search: { minAmount, maxAmount }, onChange }: Props) {
  const value = (minAmount ?? maxAmount) ? `${minAmount ?? '0'} – ${maxAmount ?? '…'} ETB` : undefined;
  return (
    <Popover button={chip(text.amount, value)} title={text.amount}>
      {(close) => (
        <AmountForm
          initial={{ minAmount, maxAmount }}
          onChange={(changes) => {
            onChange(changes);
            close();
          }}
        />
      )}
    </Popover>
  );
}

type Amounts = Pick<TransactionSearch, 'minAmount' | 'maxAmount'>;

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
