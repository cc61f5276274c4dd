import { useId, type FormEvent } from 'react';

import { Button } from '../../ui/button.tsx';
import { ChoiceFilter, DateFilter } from '../../ui/filters.tsx';
import { useShortcuts } from '../../ui/shortcuts.ts';
import type { AuditSearch } from './search.ts';
import { ACTIONS, text } from './text.ts';

/** A search without filters. */
export const NOTHING: AuditSearch = {
  startDate: undefined,
  endDate: undefined,
  actor: undefined,
  action: undefined,
  resourceId: undefined,
  requestId: undefined,
};

type Props = {
  search: AuditSearch;
  /** Those of the changes in sight, by id. */
  actors: Readonly<Record<string, string>>;
  onChange: (changes: Partial<AuditSearch>) => void;
};

/** The filters of the audit log. */
export function Filters({ search, actors, onChange }: Props) {
  const { startDate, endDate, actor, action, resourceId, requestId } = search;
  const isFiltered = [startDate, actor, action, resourceId, requestId].some((value) => value !== undefined);
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line p-3">
      <IdField key={resourceId ?? requestId} id={resourceId ?? requestId} onChange={onChange} />
      <DateFilter
        name={text.date}
        value={startDate && endDate ? { startDate, endDate } : null}
        preset={text.lastMonth}
        presets={[[text.lastMonth, () => onChange({ startDate: undefined, endDate: undefined })]]}
        onChange={onChange}
      />
      <ChoiceFilter
        name={text.action}
        values={Object.entries(ACTIONS)}
        chosen={action}
        onChange={(chosen) => onChange({ action: chosen })}
      />
      <ChoiceFilter
        name={text.actor}
        values={Object.entries(actors)}
        chosen={actor}
        onChange={(chosen) => onChange({ actor: chosen })}
      />
      {isFiltered && (
        <Button kind="plain" icon="close" onClick={() => onChange(NOTHING)}>
          {text.clearFilters}
        </Button>
      )}
    </div>
  );
}

/** One field for two kinds of ids, which their prefix distinguishes. */
function IdField({ id, onChange }: Pick<Props, 'onChange'> & { id: string | undefined }) {
  const fieldId = useId();
  useShortcuts({ '/': () => document.getElementById(fieldId)?.focus() });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget).get('id');
    const wanted = (typeof given === 'string' && given.trim()) || undefined;
    const isRequest = wanted?.startsWith('req_') === true;
    onChange({ requestId: isRequest ? wanted : undefined, resourceId: isRequest ? undefined : wanted });
  };
  return (
    <search className="min-w-0 max-sm:w-full">
      <form onSubmit={submit}>
        <input
          id={fieldId}
          name="id"
          type="search"
          maxLength={64}
          defaultValue={id}
          aria-label={text.searchLabel}
          placeholder={text.searchLabel}
          className="control w-full sm:w-80"
        />
      </form>
    </search>
  );
}
