import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type ComponentProps, type FormEvent, type ReactNode } from 'react';

import { DAYS, isDay } from '../../src/lib/dates.ts';
import { Button } from './button.tsx';
import type { Days } from './days.ts';
import { TextField } from './field.tsx';
import { ChoiceFilter, DateFilter, FilterChip, ListFilter } from './filters.tsx';
import { formatDay } from './format.ts';
import { SearchField } from './search-box.tsx';
import { LIMIT_DEFAULT, listOf, type Search } from './search-params.ts';
import { text } from './text.ts';
import { useToday } from './today.ts';
import { wrongDaysOf } from './wrong-days.tsx';

/** The values to choose from; one without a caption is its own. */
export type Values = readonly (string | readonly [value: string, caption: string])[];

/** What is typed into the field of a filter, where it is not any text. */
type Typed = {
  isKnown: (value: string) => boolean;
  /** The value as it is shown. */
  caption: (value: string) => string;
  field: ComponentProps<'input'>;
};

export const DAY: Typed = {
  isKnown: isDay,
  caption: formatDay,
  field: { type: 'date', min: DAYS.first, max: DAYS.last },
};

/**
 * A filter of a list, by the API's name of its parameter. `search` is a field in sight, `text` one behind a button. Values
 * that are not known beforehand are given to the bar.
 */
export type Filter =
  | {
      kind: 'search';
      name: string;
      label: string;
      /** Another parameter, for what this matches. */
      other?: { name: string; pattern: RegExp };
    }
  | { kind: 'text'; name: string; label: string; typed?: Typed }
  | { kind: 'one' | 'several'; name: string; label: string; values?: Values }
  | {
      /** startDate and endDate. */
      kind: 'days';
      /** The name of the days that the API takes without them. */
      preset?: string;
      /** What there is in place of two days: its name and its parameters. */
      presets?: readonly (readonly [name: string, parameters: Search])[];
    }
  | {
      kind: 'own';
      names: readonly string[];
      isKnown?: (value: string) => boolean;
      show: (state: FilterState) => ReactNode;
    };

export type FilterState = {
  filters: readonly Filter[];
  /** The address. */
  search: Search;
  /** The values of the filters. */
  chosen: Search;
  /** The values of the filters and the page, for the API. */
  query: Readonly<Record<string, string | number | undefined>>;
  limit: number;
  /** The chosen days, which the API does not take: nothing is read for them. */
  wrongDays: Days | null;
  /** The id of the open row. */
  open: string | undefined;
  isFiltered: boolean;
  /** Changes the address. */
  go: (changes: Search) => void;
  /** Changes filters, and shows the first page. */
  change: (changes: Search) => void;
  /** Sets these filters and clears the others. */
  reset: (changes: Search) => void;
  /** Closes the open row. */
  close: () => void;
};

function namesOf(filter: Filter): readonly string[] {
  if (filter.kind === 'own') return filter.names;
  if (filter.kind === 'search') return [filter.name, ...(filter.other ? [filter.other.name] : [])];
  if (filter.kind !== 'days') return [filter.name];
  const inPlace = (filter.presets ?? []).flatMap(([, parameters]) => Object.keys(parameters));
  return ['startDate', 'endDate', ...new Set(inPlace)];
}

const keyOf = (filter: Filter): string => filter.kind + namesOf(filter)[0];

/** What of a value in the address a filter has; a number may be one that it does not offer. */
function knownOf(filter: Filter, value: string | undefined): string | undefined {
  if (filter.kind === 'text' && filter.typed?.isKnown(value ?? '') === false) return undefined;
  if (filter.kind === 'own' && filter.isKnown?.(value ?? '') === false) return undefined;
  if ((filter.kind !== 'one' && filter.kind !== 'several') || filter.values === undefined) return value;
  const known = filter.values.map((one) => (typeof one === 'string' ? one : one[0]));
  return listOf(value)
    .filter((one) => known.includes(one) || /^\d+$/.test(one))
    .join(',');
}

const without = (names: readonly string[]): Search => Object.fromEntries(names.map((name) => [name, undefined]));

const wholeOf = (value: string | undefined, otherwise: number): number => {
  const number = Number(value);
  return Number.isInteger(number) && number > 0 ? number : otherwise;
};

/** The filters, the page and the open row of a list, which the address holds and nothing else. */
export function useFilters(filters: readonly Filter[]): FilterState {
  // Ranges of days move with the calendar, also in a page that stays open.
  useToday();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const names = filters.flatMap(namesOf);
  const { startDate = '', endDate = '', open } = search;
  const given = isDay(startDate) && isDay(endDate) ? search : { ...search, startDate: undefined, endDate: undefined };
  const chosen = Object.fromEntries(
    filters.flatMap((filter) => namesOf(filter).map((name) => [name, knownOf(filter, given[name]) || undefined])),
  );
  const page = wholeOf(search['page'], 1);
  const limit = wholeOf(search['limit'], LIMIT_DEFAULT);
  const go = (changes: Search): void => void navigate({ to: '.', search: { ...search, ...changes } as never });
  const change = (changes: Search): void => go({ page: undefined, ...changes });
  return {
    filters,
    search,
    chosen,
    query: { ...chosen, page, limit },
    limit,
    wrongDays: wrongDaysOf(chosen),
    open,
    isFiltered: names.some((name) => chosen[name] !== undefined),
    go,
    change,
    reset: (changes) => change({ ...without(names), ...changes }),
    close: () => go({ open: undefined }),
  };
}

type BarProps = {
  state: FilterState;
  /** The values that were loaded, by the name of their parameter. */
  values?: Readonly<Record<string, Values>> | undefined;
  children?: ReactNode;
};

/**
 * More than these would fill a telephone before the first row: there the rest is behind a button, but for filters that are
 * set or were, whose windows may be open.
 */
const IN_SIGHT_MAX = 7;
const IN_SIGHT_OF_MANY = 3;

/** Every filter of a list, each with its value in sight. */
export function FilterBar({ state, values, children }: BarProps) {
  const [areAllShown, setAllShown] = useState(false);
  const [everSet, setEverSet] = useState<readonly string[]>([]);
  const { filters, chosen } = state;
  const newlySet = filters
    .filter((filter) => namesOf(filter).some((name) => chosen[name] !== undefined))
    .map(keyOf)
    .filter((key) => !everSet.includes(key));
  if (newlySet.length > 0) setEverSet([...everSet, ...newlySet]);
  const areMany = filters.length > IN_SIGHT_MAX;
  const isHidden = (filter: Filter, index: number): boolean =>
    areMany && !areAllShown && index >= IN_SIGHT_OF_MANY && !everSet.includes(keyOf(filter));
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line p-3">
      {filters.map((filter, index) => (
        <div key={keyOf(filter)} className={`contents ${isHidden(filter, index) ? 'max-sm:hidden' : ''}`}>
          <OneFilter filter={filter} state={state} values={values} />
        </div>
      ))}
      {areMany && (
        <Button
          kind="plain"
          icon={areAllShown ? 'up' : 'down'}
          className="sm:hidden"
          aria-expanded={areAllShown}
          onClick={() => setAllShown(!areAllShown)}
        >
          {text.moreFilters}
        </Button>
      )}
      {state.isFiltered && (
        <Button kind="plain" icon="close" onClick={() => state.reset({})}>
          {text.clearFilters}
        </Button>
      )}
      {children}
    </div>
  );
}

function OneFilter({ filter, state, values }: Omit<BarProps, 'children'> & { filter: Filter }) {
  if (filter.kind === 'own') return filter.show(state);
  if (filter.kind === 'days') return <DaysFilter filter={filter} state={state} />;
  if (filter.kind === 'search') return <SearchFilter filter={filter} state={state} />;
  const { name, label } = filter;
  const value = state.chosen[name];
  const field = { name: label, value, onChange: (wanted: string | undefined) => state.change({ [name]: wanted }) };
  if (filter.kind === 'text') {
    const { typed: kind } = filter;
    return (
      <FilterChip name={label} value={value && (kind?.caption(value) ?? value)}>
        {(close) => <TypedForm {...field} kind={kind} close={close} />}
      </FilterChip>
    );
  }
  const given = filter.values ?? values?.[name] ?? [];
  const all = given.map((one) => (typeof one === 'string' ? ([one, one] as const) : one));
  if (filter.kind === 'one') return <ChoiceFilter {...field} values={all} chosen={value} />;
  return <ListFilter {...field} values={all} chosen={listOf(value)} />;
}

type DaysProps = { filter: Filter & { kind: 'days' }; state: FilterState };

function DaysFilter({ filter, state: { chosen, change } }: DaysProps) {
  const { preset = text.lastMonth, presets = [[preset, {}]] } = filter;
  const { startDate, endDate } = chosen;
  const none = without(namesOf(filter));
  const current = presets.findLast(([, parameters]) =>
    Object.entries(parameters).every(([name, value]) => chosen[name] === value),
  );
  return (
    <DateFilter
      name={text.date}
      value={startDate && endDate ? { startDate, endDate } : null}
      preset={current?.[0] ?? preset}
      presets={presets.map(([name, parameters]) => [name, () => change({ ...none, ...parameters })] as const)}
      onChange={(days) => change({ ...none, ...days })}
    />
  );
}

type SearchProps = { filter: Filter & { kind: 'search' }; state: FilterState };

function SearchFilter({ filter, state: { chosen, change } }: SearchProps) {
  const { name, label, other } = filter;
  const value = chosen[name] ?? (other && chosen[other.name]);
  const search = (wanted: string | undefined): void => {
    const chosenName = wanted !== undefined && other?.pattern.test(wanted) ? other.name : name;
    change({ ...without(namesOf(filter)), [chosenName]: wanted });
  };
  return <SearchField {...{ label, name, value }} className="w-full sm:w-72" onSearch={search} />;
}

const TEXT_CHARACTERS_MAX = 253;

type FormProps = {
  name: string;
  value: string | undefined;
  kind: Typed | undefined;
  onChange: (value: string | undefined) => void;
  close: () => void;
};

/** The field of a filter. Its value holds once it is complete, not with each key. */
function TypedForm({ name, value, kind, onChange, close }: FormProps) {
  const [typed, setTyped] = useState(value ?? '');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onChange(typed.trim() || undefined);
    close();
  };
  return (
    <form className="flex w-64 flex-col gap-2" onSubmit={submit}>
      <TextField
        label={name}
        maxLength={TEXT_CHARACTERS_MAX}
        {...kind?.field}
        hint={kind?.isKnown(typed) && kind.caption(typed)}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <Button type="submit" kind="primary">
        {text.apply}
      </Button>
    </form>
  );
}
