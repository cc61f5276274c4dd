import { useState } from 'react';

import { Button, IconButton } from '../../ui/button.tsx';
import { Failed } from '../../ui/feedback.tsx';
import { Check, TextField } from '../../ui/field.tsx';
import type { FilterState } from '../../ui/filter-bar.tsx';
import { Form } from '../../ui/form.tsx';
import { catalogue } from '../../ui/language.ts';
import { Popover } from '../../ui/popover.tsx';
import type { Search } from '../../ui/search-params.ts';
import { text as kit } from '../../ui/text.ts';
import { useChange, useRead, type SavedView } from '../routes.ts';

const text = catalogue({
  views: ['Views', 'እይታዎች'],
  today: ['Today', 'ዛሬ'],
  failedThisWeek: ['Failed this week', 'በዚህ ሳምንት ያልተሳኩ'],
  pendingLong: ['Pending over 1 h', 'ከ1 ሰዓት በላይ በመጠባበቅ ላይ'],
  held: ['Held', 'የተያዙ'],
  shared: ['Shared', 'የተጋራ'],
  shareOne: ['Share', 'ያጋሩ'],
  by: (name: string) => [`by ${name}`, `በ${name}`],
  remove: (name: string) => [`Delete ${name}`, `${name}ን ይሰርዙ`],
  saveAs: ['Save this filter as', 'ይህን ማጣሪያ ያስቀምጡ እንደ'],
  share: ['Share with everybody of the merchant', 'ለነጋዴው አባላት ሁሉ ያጋሩ'],
  save: ['Save', 'ያስቀምጡ'],
});

const NAME_CHARACTERS_MAX = 60;

/** What everybody has. */
const BUILT_IN: readonly (readonly [name: string, filter: Search])[] = [
  [text.today, { range: 'today' }],
  [text.failedThisWeek, { range: 'week', status: 'FAILED' }],
  [text.pendingLong, { range: '90d', status: 'PENDING', minAgeMinutes: '60', sort: 'createdAt' }],
  [text.held, { range: '90d', held: 'true' }],
];

/** Filters under a name: built in, the person's own, and those that others of the merchant share. */
export function ViewMenu({ state }: { state: FilterState }) {
  return (
    <Popover button={text.views} icon="list" title={text.views}>
      {(close) => (
        <Views
          state={state}
          onOpen={(filter) => {
            state.reset({ sort: undefined, ...filter });
            close();
          }}
        />
      )}
    </Popover>
  );
}

function Views({ state, onOpen }: { state: FilterState; onOpen: (filter: Search) => void }) {
  const saved = useRead('GET /api/portal/views', {});
  const views = saved.data?.data ?? [];
  return (
    <div className="flex w-72 flex-col gap-2">
      <ul className="flex flex-col">
        {BUILT_IN.map(([name, filter]) => (
          <li key={name}>
            <ViewButton name={name} onOpen={() => onOpen(filter)} />
          </li>
        ))}
        {views.map((view) => (
          <ViewLine key={view.viewId} view={view} onOpen={() => onOpen(searchOf(view.filter))} />
        ))}
      </ul>
      {saved.error && <Failed error={saved.error} retry={() => void saved.refetch()} />}
      <SaveForm state={state} />
    </div>
  );
}

function ViewButton({ name, onOpen }: { name: string; onOpen: () => void }) {
  return (
    <Button kind="plain" className="w-full min-w-0 justify-start whitespace-normal text-start" onClick={onOpen}>
      {name}
    </Button>
  );
}

function ViewLine({ view, onOpen }: { view: SavedView; onOpen: () => void }) {
  const { viewId, name, own, shared, ownerName } = view;
  const change = useChange('PATCH /api/portal/views/:viewId');
  const remove = useChange('DELETE /api/portal/views/:viewId');
  const error = change.error ?? remove.error;
  return (
    <li className="flex flex-wrap items-center border-t border-line py-1">
      <span className="min-w-0 flex-1">
        <ViewButton name={name} onOpen={onOpen} />
      </span>
      {own ? (
        <>
          <Button
            kind={shared ? 'second' : 'plain'}
            icon={shared ? 'check' : 'people'}
            aria-pressed={shared}
            isBusy={change.isPending}
            onClick={() => change.mutate({ params: { viewId }, body: { shared: !shared } })}
          >
            {shared ? text.shared : text.shareOne}
          </Button>
          <IconButton
            icon="close"
            label={text.remove(name)}
            disabled={remove.isPending}
            onClick={() => remove.mutate({ params: { viewId } })}
          />
        </>
      ) : (
        <span className="px-2 text-xs text-quiet">{text.by(ownerName)}</span>
      )}
      {error && <Failed error={error} />}
    </li>
  );
}

/** A saved filter as an address has it. */
const searchOf = ({ minAgeMinutes, ...filter }: SavedView['filter']): Search => ({
  ...filter,
  minAgeMinutes: minAgeMinutes?.toString(),
});

/** Saves what the list shows now. */
function SaveForm({ state: { chosen, search } }: { state: FilterState }) {
  const [name, setName] = useState('');
  const [shared, setShared] = useState(false);
  const [isTried, setTried] = useState(false);
  const create = useChange('POST /api/portal/views');
  const submit = (): void => {
    setTried(true);
    if (name.trim() === '') return;
    const { minAgeMinutes, ...parameters } = chosen;
    const filter = { ...parameters, sort: search['sort'], minAgeMinutes: minAgeMinutes && Number(minAgeMinutes) };
    const onSuccess = (): void => {
      setName('');
      setTried(false);
    };
    create.mutate({ body: { name: name.trim(), filter, shared } }, { onSuccess });
  };
  return (
    <div className="border-t border-line pt-2">
      <Form change={create} action={text.save} kind="second" onSubmit={submit}>
        <TextField
          label={text.saveAs}
          value={name}
          maxLength={NAME_CHARACTERS_MAX}
          error={isTried && name.trim() === '' ? kit.fillIn : undefined}
          onChange={(event) => setName(event.target.value)}
        />
        <Check label={text.share} isChecked={shared} onChange={setShared} />
      </Form>
    </div>
  );
}
