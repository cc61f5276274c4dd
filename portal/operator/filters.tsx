import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';

import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { ChoiceFilter, DateFilter, FilterChip, ListFilter } from '../ui/filters.tsx';
import { listOf } from '../ui/search-params.ts';
import { text as kit } from '../ui/text.ts';
import { text } from './text.ts';

type Values = readonly (readonly [value: string, caption: string])[];

/** A filter of a list, by the API's name of its parameter. `days` is startDate and endDate. */
export type Filter =
  | { kind: 'text'; name: string; label: string }
  | { kind: 'one' | 'several'; name: string; label: string; values: Values }
  | { kind: 'days'; preset?: string };

type Search = Readonly<Record<string, string | undefined>>;

const namesOf = (filter: Filter): readonly string[] =>
  filter.kind === 'days' ? ['startDate', 'endDate'] : [filter.name];

const LIMIT_DEFAULT = 20;
const wholeOf = (value: string | undefined, otherwise: number): number => {
  const number = Number(value);
  return Number.isInteger(number) && number > 0 ? number : otherwise;
};

/** The filters, the page and the open row of a list, which the address holds and nothing else. */
export function useFilters(filters: readonly Filter[]) {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const names = filters.flatMap(namesOf);
  const chosen = Object.fromEntries(names.map((name) => [name, search[name] || undefined]));
  const page = wholeOf(search['page'], 1);
  const limit = wholeOf(search['limit'], LIMIT_DEFAULT);
  const go = (changes: Search): void => void navigate({ to: '.', search: { ...search, ...changes } as never });
  return {
    filters,
    search,
    chosen,
    /** For the API. */
    query: { ...chosen, page, limit },
    limit,
    open: search['open'],
    go,
    /** Closes the open row. */
    close: (): void => go({ open: undefined }),
    /** A changed filter shows its first page. */
    change: (changes: Search): void => go({ page: undefined, ...changes }),
    isFiltered: names.some((name) => chosen[name] !== undefined),
    clear: (): void => go({ page: undefined, ...Object.fromEntries(names.map((name) => [name, undefined])) }),
  };
}

export type FilterState = ReturnType<typeof useFilters>;

/** Every filter of a list, each with its value in sight. */
export function FilterBar({ state }: { state: FilterState }) {
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line p-3">
      {state.filters.map((filter) => (
        <OneFilter key={namesOf(filter)[0]} filter={filter} state={state} />
      ))}
      {state.isFiltered && (
        <Button kind="plain" icon="close" onClick={state.clear}>
          {text.clearFilters}
        </Button>
      )}
    </div>
  );
}

function OneFilter({ filter, state: { chosen, change } }: { filter: Filter; state: FilterState }) {
  if (filter.kind === 'days') {
    const { startDate, endDate } = chosen;
    const preset = filter.preset ?? text.lastMonth;
    return (
      <DateFilter
        name={text.date}
        value={startDate && endDate ? { startDate, endDate } : null}
        preset={preset}
        presets={[[preset, () => change({ startDate: undefined, endDate: undefined })]]}
        onChange={change}
      />
    );
  }
  const { kind, name, label } = filter;
  const value = chosen[name];
  const onChange = (wanted: string | undefined): void => change({ [name]: wanted });
  if (kind === 'text') return <TextFilter key={value} name={label} value={value} onChange={onChange} />;
  if (kind === 'one') return <ChoiceFilter name={label} values={filter.values} chosen={value} onChange={onChange} />;
  return <ListFilter name={label} values={filter.values} chosen={listOf(value)} onChange={onChange} />;
}

type TextFilterProps = { name: string; value: string | undefined; onChange: (value: string | undefined) => void };

function TextFilter({ name, value, onChange }: TextFilterProps) {
  const [typed, setTyped] = useState(value ?? '');
  return (
    <FilterChip name={name} value={value}>
      {(close) => (
        <form
          className="flex w-64 flex-col gap-2"
          onSubmit={(event: FormEvent) => {
            event.preventDefault();
            onChange(typed.trim() || undefined);
            close();
          }}
        >
          <TextField label={name} maxLength={253} value={typed} onChange={({ target }) => setTyped(target.value)} />
          <Button type="submit" kind="primary">
            {kit.apply}
          </Button>
        </form>
      )}
    </FilterChip>
  );
}
