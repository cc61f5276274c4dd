import type { FormEvent } from 'react';

import { Button } from '../../ui/button.tsx';
import { ChoiceFilter, DateFilter } from '../../ui/filters.tsx';
import type { Key } from '../routes.ts';
import type { RequestSearch } from './search.ts';
import { text } from './text.ts';

/** A search without filters. */
export const NOTHING: RequestSearch = {
  startDate: undefined,
  endDate: undefined,
  keyId: undefined,
  requestId: undefined,
  method: undefined,
  route: undefined,
  statusClass: undefined,
};

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => [method, method] as const);
const STATUS_CLASSES = [
  ['2xx', text.success],
  ['3xx', text.redirect],
  ['4xx', text.callerError],
  ['5xx', text.serverError],
] as const;

type Props = {
  search: RequestSearch;
  keys: readonly Key[];
  /** Those of the calls in sight. */
  routes: readonly string[];
  onChange: (changes: Partial<RequestSearch>) => void;
};

/** The filters of the request log. */
export function Filters({ search, keys, routes, onChange }: Props) {
  const { startDate, endDate, keyId, requestId, method, route, statusClass } = search;
  const isFiltered = [startDate, keyId, requestId, method, route, statusClass].some((value) => value !== undefined);
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line p-3">
      <RequestIdField key={requestId} requestId={requestId} onChange={onChange} />
      <DateFilter
        name={text.date}
        value={startDate && endDate ? { startDate, endDate } : null}
        preset={text.lastMonth}
        presets={[[text.lastMonth, () => onChange({ startDate: undefined, endDate: undefined })]]}
        onChange={onChange}
      />
      <ChoiceFilter
        name={text.status}
        values={STATUS_CLASSES}
        chosen={statusClass}
        onChange={(chosen) => onChange({ statusClass: chosen })}
      />
      <ChoiceFilter
        name={text.method}
        values={METHODS}
        chosen={method}
        onChange={(chosen) => onChange({ method: chosen })}
      />
      <ChoiceFilter
        name={text.route}
        values={[...new Set(route === undefined ? routes : [route, ...routes])].toSorted().map((one) => [one, one])}
        chosen={route}
        onChange={(chosen) => onChange({ route: chosen })}
      />
      <ChoiceFilter
        name={text.key}
        values={keys.map((key) => [key.keyId, key.name || key.key])}
        chosen={keyId}
        onChange={(chosen) => onChange({ keyId: chosen })}
      />
      {isFiltered && (
        <Button kind="plain" icon="close" onClick={() => onChange(NOTHING)}>
          {text.clearFilters}
        </Button>
      )}
    </div>
  );
}

type FieldProps = Pick<Props, 'onChange'> & { requestId: string | undefined };

function RequestIdField({ requestId, onChange }: FieldProps) {
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const wanted = new FormData(event.currentTarget).get('requestId');
    onChange({ requestId: (typeof wanted === 'string' && wanted.trim()) || undefined });
  };
  return (
    <search className="min-w-0 max-sm:w-full">
      <form onSubmit={submit}>
        <input
          name="requestId"
          type="search"
          maxLength={64}
          defaultValue={requestId}
          aria-label={text.searchLabel}
          placeholder={text.searchLabel}
          className="control w-full sm:w-72"
        />
      </form>
    </search>
  );
}
