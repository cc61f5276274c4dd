import type { ComponentProps, ReactNode } from 'react';

import { useFilters, type Filter, type FilterState } from '../ui/filter-bar.tsx';
import { Listing } from '../ui/listing.tsx';
import { Page } from '../ui/page.tsx';
import { ViewDrawer, type ViewKind } from './views.tsx';

type List<Row> = Pick<ComponentProps<typeof Listing<Row>>, 'columns' | 'idOf' | 'empty'> & {
  title: string;
  filters: readonly Filter[];
  /** Reads its rows by the API's parameters, unless it is not enabled. */
  useRows: (query: FilterState['query'], options: { enabled: boolean }) => ComponentProps<typeof Listing<Row>>['query'];
  /** What its rows open as. */
  view: ViewKind;
  actions?: (state: FilterState) => ReactNode;
};

/** The screen of a list whose rows open as views. */
export const listPage = <Row,>({ title, filters, useRows, view, actions, ...list }: List<Row>) =>
  function ListPage() {
    const state = useFilters(filters);
    return (
      <Page title={title} actions={actions?.(state)}>
        <Listing
          {...list}
          label={title}
          state={state}
          query={useRows(state.query, { enabled: !state.wrongDays })}
          drawer={({ id, close }) => <ViewDrawer kind={view} id={id} onClose={close} />}
        />
      </Page>
    );
  };
