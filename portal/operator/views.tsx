import { useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, type ComponentType } from 'react';

import { Button } from '../ui/button.tsx';
import { Drawer } from '../ui/dialog.tsx';
import { Skeleton } from '../ui/feedback.tsx';
import { Page } from './page.tsx';
import { text } from './text.ts';

/** Shows one resource of the API: its facts, its history and its commands. */
export type View = ComponentType<{ id: string }>;

/** The resources that have a view: its name and the folder of its page. */
const VIEWS = {
  delivery: {
    label: text.delivery,
    path: '/deliveries',
    View: lazy(() => import('./deliveries/view.tsx').then((file) => ({ default: file.DeliveryView }))),
  },
  transaction: {
    label: text.transaction,
    path: '/transactions',
    View: lazy(() => import('./transactions/view.tsx').then((file) => ({ default: file.TransactionView }))),
  },
  withdrawal: {
    label: text.withdrawal,
    path: '/withdrawals',
    View: lazy(() => import('./withdrawals/view.tsx').then((file) => ({ default: file.WithdrawalView }))),
  },
  settlement: {
    label: text.settlement,
    path: '/settlements',
    View: lazy(() => import('./settlements/view.tsx').then((file) => ({ default: file.SettlementView }))),
  },
  merchant: {
    label: text.merchant,
    path: '/merchants',
    View: lazy(() => import('./merchants/view.tsx').then((file) => ({ default: file.MerchantView }))),
  },
  proposal: {
    label: text.proposal,
    path: '/proposals',
    View: lazy(() => import('./proposals/view.tsx').then((file) => ({ default: file.ProposalView }))),
  },
  kyc: {
    label: text.kyc,
    path: '/kyc',
    View: lazy(() => import('./kyc/view.tsx').then((file) => ({ default: file.KycView }))),
  },
  bankAccount: {
    label: text.bankAccount,
    path: '/bank-accounts',
    View: lazy(() => import('./bank-account/view.tsx').then((file) => ({ default: file.BankAccountView }))),
  },
} as const satisfies Record<string, { label: string; path: string; View: View }>;

export type ViewKind = keyof typeof VIEWS;

/** The address of the page of a resource, in its environment. */
export const viewPath = (kind: ViewKind, id: string): string => `${VIEWS[kind].path}/${encodeURIComponent(id)}`;

/** The view of a resource, which is loaded when it is shown. */
export function ViewOf({ kind, id }: { kind: ViewKind; id: string }) {
  const { View } = VIEWS[kind];
  return (
    <Suspense fallback={<Skeleton />}>
      <View id={id} />
    </Suspense>
  );
}

/** A resource beside the list. */
export function ViewDrawer({ kind, id, onClose }: { kind: ViewKind; id: string; onClose: () => void }) {
  const { label } = VIEWS[kind];
  const navigate = useNavigate();
  return (
    <Drawer key={id} title={`${label} ${id}`} onClose={onClose}>
      <ViewOf kind={kind} id={id} />
      <div>
        <Button onClick={() => void navigate({ to: viewPath(kind, id) as '/deliveries' })}>{text.asPage}</Button>
      </div>
    </Drawer>
  );
}

/** The page of a resource whose id is in the address. */
export const viewPage = (kind: ViewKind) =>
  function ViewPage() {
    const { id = '' }: { id?: string } = useParams({ strict: false });
    const { label } = VIEWS[kind];
    return (
      <Page title={`${label} ${id}`}>
        <div className="card flex max-w-4xl flex-col gap-5 p-4 sm:p-6">
          <ViewOf kind={kind} id={id} />
        </div>
      </Page>
    );
  };
