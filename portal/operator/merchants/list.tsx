import { useNavigate } from '@tanstack/react-router';

import { Badge } from '../../ui/badge.tsx';
import { Mono } from '../../ui/copy.tsx';
import type { Filter } from '../../ui/filter-bar.tsx';
import { KYC_STATES } from '../../ui/kyc-text.ts';
import type { Column } from '../../ui/list.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { CommandButton } from '../command-button.tsx';
import { listPage } from '../list-page.tsx';
import { REFRESH_MS, useRead, type Merchant } from '../routes.ts';
import { text as shared } from '../text.ts';
import { viewPath } from '../views.tsx';
import { text } from './text.ts';

const FILTERS: readonly Filter[] = [
  { kind: 'search', name: 'search', label: text.search },
  {
    kind: 'several',
    name: 'status',
    label: shared.status,
    values: [
      ['ACTIVE', text.ACTIVE],
      ['SUSPENDED', text.SUSPENDED],
    ],
  },
  { kind: 'several', name: 'kycStatus', label: text.verification, values: Object.entries(KYC_STATES) },
];

const COLUMNS: readonly Column<Merchant>[] = [
  { header: text.name, cell: ({ name }) => name },
  {
    header: shared.status,
    narrow: 'second',
    cell: ({ status }) => <Badge tone={status === 'ACTIVE' ? 'good' : 'bad'}>{text[status]}</Badge>,
  },
  { header: text.verification, cell: ({ kycStatus }) => KYC_STATES[kycStatus] },
  { header: shared.merchantId, narrow: 'none', cell: ({ merchantId }) => <Mono>{merchantId}</Mono> },
  { header: shared.createdAt, narrow: 'second', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Every merchant. */
export const Merchants = listPage<Merchant>({
  title: shared.merchants,
  filters: FILTERS,
  columns: COLUMNS,
  useRows: (query) => useRead('GET /api/ops/merchants', { query }, { everyMs: REFRESH_MS }),
  idOf: ({ merchantId }) => merchantId,
  empty: text.none,
  view: 'merchant',
  actions: () => <NewMerchant />,
});

/** Leads to the merchant, who needs an owner next. */
function NewMerchant() {
  const navigate = useNavigate();
  const open = (data: unknown): void => {
    void navigate({ to: viewPath('merchant', (data as Merchant).merchantId) as '/merchants' });
    toast(text.created);
  };
  return <CommandButton name="merchant.create" address="/api/ops/merchants" onDone={open} />;
}
