import { useEffect, useRef, type MouseEvent, type ReactNode } from 'react';

import { Icon } from './icon.tsx';
import { useShortcuts } from './shortcuts.ts';

/** A column of a list; no other of it has its header. */
export type Column<Row> = {
  header: string;
  cell: (row: Row) => ReactNode;
  /** What the API sorts by it under, where it does. */
  sortBy?: string;
  align?: 'end';
  /** Its cells name their rows, for those who have the table read aloud. */
  isRowHeader?: boolean;
  /**
   * Its place in a row of a narrow screen: at the right end of a line, on a line of its own with its header, or not at all.
   * Others begin a line; aligned ones have a line of their own with their header, since a number alone means nothing.
   */
  narrow?: 'second' | 'labelled' | 'none';
};

type Props<Row> = {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  idOf: (row: Row) => string;
  /** Opens a row; its address is that of the first cell's link. */
  open?: { hrefOf: (row: Row) => string; onOpen: (row: Row) => void; openId: string | undefined };
  /** The order by a column's `sortBy`, with `-` before it for descending. */
  sort?: { by: string; onSort: (by: string) => void };
  /** Below the rows: totals. */
  foot?: ReactNode;
};

/** A table whose rows open by click, by Enter, and with j and k. On a narrow screen each row becomes a few lines. */
export function List<Row>({ label, columns, rows, idOf, open, sort, foot }: Props<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const move = (step: number): void => {
    if (!open) return;
    const links = [...(body.current?.querySelectorAll<HTMLAnchorElement>('a[data-row]') ?? [])];
    const at = links.findIndex((link) => link === document.activeElement || link.dataset['row'] === open.openId);
    const next = at === -1 ? 0 : Math.min(Math.max(at + step, 0), links.length - 1);
    const row = rows[next];
    if (open.openId === undefined) links[next]?.focus();
    else if (row) open.onOpen(row);
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  const lastOpen = useRef(open?.openId);
  useEffect(() => {
    const last = lastOpen.current;
    lastOpen.current = open?.openId;
    // The row that was opened last, which may not be the one that has opened the drawer.
    if (last !== undefined && open?.openId === undefined) {
      body.current?.querySelector<HTMLElement>(`a[data-row="${CSS.escape(last)}"]`)?.focus({ preventScroll: true });
    }
  }, [open?.openId]);
  return (
    <div className="@container overflow-x-auto">
      <table role="table" aria-label={label} className="list w-full border-collapse text-start">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <Header key={column.header} column={column} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" ref={body}>
          {rows.map((row) => (
            <Row key={idOf(row)} row={row} id={idOf(row)} columns={columns} open={open} />
          ))}
        </tbody>
        {foot}
      </table>
    </div>
  );
}

type HeaderProps<Row> = { column: Column<Row>; sort: Props<Row>['sort'] };

/** The head of a column. A sortable one is a button: first descending, then ascending. */
function Header<Row>({ column: { header, align, sortBy }, sort }: HeaderProps<Row>) {
  const isDescending = sort?.by === `-${sortBy}`;
  const isSorted = isDescending || (sortBy !== undefined && sort?.by === sortBy);
  const order = isDescending ? 'descending' : 'ascending';
  return (
    <th
      role="columnheader"
      scope="col"
      aria-sort={isSorted ? order : undefined}
      className={`border-b border-line px-3 py-2 text-xs font-semibold whitespace-nowrap text-quiet ${align === 'end' ? 'text-end' : 'text-start'}`}
    >
      {sort && sortBy !== undefined ? (
        <button
          type="button"
          className="inline-flex items-center gap-1 hover:text-ink"
          onClick={() => sort.onSort(isDescending ? sortBy : `-${sortBy}`)}
        >
          {header}
          <Icon name={isSorted ? (isDescending ? 'down' : 'up') : 'sort'} className="size-3" />
        </button>
      ) : (
        header
      )}
    </th>
  );
}

type RowProps<Row> = { row: Row; id: string; columns: readonly Column<Row>[]; open: Props<Row>['open'] };

function Row<Value>({ row, id, columns, open }: RowProps<Value>) {
  const isOpen = open?.openId === id;
  const onClick = (event: MouseEvent): void => {
    const isOther = event.target instanceof Element && event.target.closest('a, button, input, label') !== null;
    if (!isOther && getSelection()?.isCollapsed !== false) open?.onOpen(row);
  };
  return (
    <tr
      role="row"
      onClick={onClick}
      className={`border-b border-line last:border-0 ${open ? 'cursor-pointer hover:bg-sunken' : ''} ${isOpen ? 'bg-brand-soft' : ''}`}
    >
      {columns.map(({ header, cell, align, narrow, isRowHeader = false }, index) => {
        const Cell = isRowHeader ? 'th' : 'td';
        return (
          <Cell
            key={header}
            role={isRowHeader ? 'rowheader' : 'cell'}
            scope={isRowHeader ? 'row' : undefined}
            data-label={narrow === 'labelled' || (align && !narrow) ? header : undefined}
            className={`h-11 px-3 py-1.5 font-normal ${align === 'end' ? 'text-end whitespace-nowrap tabular-nums' : 'text-start'} ${narrow === 'none' ? 'wide' : (narrow ?? '')}`}
          >
            {index === 0 && open ? (
              <RowLink row={row} id={id} open={open}>
                {cell(row)}
              </RowLink>
            ) : (
              cell(row)
            )}
          </Cell>
        );
      })}
    </tr>
  );
}

type RowLinkProps<Row> = { row: Row; id: string; open: NonNullable<Props<Row>['open']>; children: ReactNode };

function RowLink<Value>({ row, id, open, children }: RowLinkProps<Value>) {
  return (
    <a
      href={open.hrefOf(row)}
      data-row={id}
      aria-current={open.openId === id || undefined}
      className="font-semibold text-brand hover:underline"
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        open.onOpen(row);
      }}
    >
      {children}
    </a>
  );
}

type TotalsProps = { columns: number; sums: readonly (readonly [name: string, sum: string])[]; children?: ReactNode };

/** Below the rows of a list: the sums of all its pages. */
export function Totals({ columns, sums, children }: TotalsProps) {
  return (
    <tfoot role="rowgroup">
      <tr role="row" className="border-t-2 border-line">
        <td role="cell" colSpan={columns} className="px-3 py-2.5">
          {children}
          <dl className="flex flex-wrap gap-x-6 gap-y-1">
            {sums.map(([name, sum]) => (
              <div key={name} className="flex gap-1.5">
                <dt className="text-quiet">{name}</dt>
                <dd className="font-semibold whitespace-nowrap tabular-nums">{sum}</dd>
              </div>
            ))}
          </dl>
        </td>
      </tr>
    </tfoot>
  );
}
