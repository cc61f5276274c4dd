import { useState } from 'react';

import { Button } from '../../ui/button.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { environment } from '../../ui/environment.ts';
import { useFilters, type Filter } from '../../ui/filter-bar.tsx';
import { formatBirr, formatDuration, listed } from '../../ui/format.ts';
import type { Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { MERCHANT_FILTER } from '../merchant-filter.tsx';
import { REFRESH_MS, useRead, type WorkItem } from '../routes.ts';
import { text as shared } from '../text.ts';
import { ItemDrawer } from './item.tsx';
import { KINDS, kindText, STALLED_KINDS, text } from './text.ts';
import { What } from './what.tsx';

const filtersOf = (kinds: Readonly<Record<string, string>>): readonly Filter[] => [
  { kind: 'several', name: 'kind', label: text.kind, values: Object.entries(kinds) },
  MERCHANT_FILTER,
];
const FILTERS = filtersOf(KINDS);
const STALLED_FILTERS = filtersOf(STALLED_KINDS);

const COLUMNS: readonly Column<WorkItem>[] = [
  { header: text.kind, cell: ({ kind }) => kindText(kind) },
  {
    header: text.waits,
    narrow: 'second',
    cell: ({ waitingSeconds }) => <span className="whitespace-nowrap">{formatDuration(waitingSeconds)}</span>,
  },
  { header: text.what, cell: (item) => <What item={item} /> },
  { header: shared.amountInBirr, align: 'end', cell: ({ amount }) => amount !== undefined && formatBirr(amount) },
  { header: shared.merchant, narrow: 'none', cell: ({ merchantName }) => merchantName },
  { header: text.since, narrow: 'none', cell: ({ since }) => <Time at={since} /> },
];

/** An item has the id of what it is about, which may need several things. */
const idOf = ({ kind, id }: WorkItem): string => `${kind}:${id}`;

type ScreenProps = {
  endpoint: 'GET /api/ops/queue' | 'GET /api/ops/stalled';
  filters: readonly Filter[];
  title: string;
  empty: string;
};

function WorkList({ endpoint, filters, title, empty }: ScreenProps) {
  const state = useFilters(filters);
  const work = useRead(endpoint, { query: { ...state.query, environment } }, { everyMs: REFRESH_MS });
  const items = work.data && { ...work.data, data: work.data.data.items };
  const [place, setPlace] = useState(0);
  const at = items?.data.findIndex((item) => idOf(item) === state.open) ?? -1;
  if (at !== -1 && at !== place) setPlace(at);
  /** What stands in the place of an item that has left the list. */
  const next = items?.data[place] ?? items?.data.at(-1);
  return (
    <Page title={title}>
      <Listing
        label={text.label}
        state={state}
        query={{ ...work, data: items }}
        columns={COLUMNS}
        idOf={idOf}
        empty={empty}
        drawer={({ row, close }) =>
          row ? (
            <ItemDrawer item={row} onClose={close} />
          ) : (
            items && <GoneDrawer next={next} onNext={(item) => state.go({ open: idOf(item) })} onClose={close} />
          )
        }
      />
    </Page>
  );
}

type GoneProps = { next: WorkItem | undefined; onNext: (item: WorkItem) => void; onClose: () => void };

/** In place of an item that was decided: the way to the next one. */
function GoneDrawer({ next, onNext, onClose }: GoneProps) {
  return (
    <Drawer title={text.gone} onClose={onClose}>
      <p>{next ? text.goneHelp : text.noneLeft}</p>
      {next && (
        <div>
          <Button kind="primary" data-next onClick={() => onNext(next)}>
            {text.next(listed([kindText(next.kind), next.merchantName]))}
          </Button>
        </div>
      )}
    </Drawer>
  );
}

/** Everything that needs an operator, longest waiting first. */
export function Queue() {
  return <WorkList endpoint="GET /api/ops/queue" filters={FILTERS} title={shared.queue} empty={text.none} />;
}

/** Everything that is overdue without an operator having to act. */
export function Stalled() {
  return (
    <WorkList
      endpoint="GET /api/ops/stalled"
      filters={STALLED_FILTERS}
      title={shared.stalled}
      empty={text.noneStalled}
    />
  );
}
