import { BANKS } from '../../../src/lib/banks.ts';
import { environment } from '../../ui/environment.ts';
import type { Filter } from '../../ui/filter-bar.tsx';
import { formatBirr } from '../../ui/format.ts';
import type { Column } from '../../ui/list.tsx';
import { SettlementState, STATES } from '../../ui/settlement-state.tsx';
import { Day, Time } from '../../ui/time.tsx';
import { listPage } from '../list-page.tsx';
import { MERCHANT_FILTER } from '../merchant-filter.tsx';
import { useRead, type Settlement } from '../routes.ts';
import { text as shared } from '../text.ts';
import { BankFileButton } from './bank-file.tsx';
import { text } from './text.ts';

const FILTERS: readonly Filter[] = [
  { kind: 'search', name: 'search', label: text.search },
  { kind: 'several', name: 'status', label: shared.status, values: Object.entries(STATES) },
  { kind: 'days' },
  MERCHANT_FILTER,
];

const COLUMNS: readonly Column<Settlement>[] = [
  { header: text.account, cell: ({ bankAccount }) => bankAccount.accountName },
  { header: shared.amountInBirr, align: 'end', narrow: 'second', cell: ({ amount }) => formatBirr(amount) },
  {
    header: text.bank,
    narrow: 'none',
    cell: ({ bankAccount: { bankCode } }) => BANKS[bankCode as keyof typeof BANKS] ?? bankCode,
  },
  { header: shared.status, narrow: 'second', cell: ({ status }) => <SettlementState status={status} /> },
  { header: text.expectedBy, cell: ({ expectedBy }) => <Day day={expectedBy} /> },
  { header: shared.merchant, narrow: 'none', cell: ({ merchantName }) => merchantName },
  { header: shared.requestedAt, cell: ({ requestedAt }) => <Time at={requestedAt} /> },
];

/** The settlements of all merchants in an environment. */
export const Settlements = listPage<Settlement>({
  title: shared.settlements,
  filters: FILTERS,
  columns: COLUMNS,
  useRows: (query, options) => useRead('GET /api/ops/settlements', { query: { ...query, environment } }, options),
  idOf: ({ settlementId }) => settlementId,
  empty: text.none,
  view: 'settlement',
  actions: () => <BankFileButton />,
});
