import { useNavigate, useParams } from '@tanstack/react-router';
import { createContext, type ComponentType } from 'react';

import { Button } from '../ui/button.tsx';
import { Drawer } from '../ui/dialog.tsx';
import { Skeleton } from '../ui/feedback.tsx';
import { birr, listed } from '../ui/format.ts';
import { onDemand } from '../ui/on-demand.tsx';
import { Page } from '../ui/page.tsx';
import { ACTIONS } from './action-text.ts';
import { useRead } from './routes.ts';
import { text } from './text.ts';

/** Shows one resource of the API: its facts, its history and its commands. */
type View = ComponentType<{ id: string }>;

const view = (path: string, label: string, load: () => Promise<View>) => ({
  path,
  label,
  View: onDemand(load, <Skeleton />).Component,
});

/** The resources that have a view: the path of its page, its name, and the component that is loaded when it is shown. */
const VIEWS = {
  delivery: view('/deliveries', text.delivery, () => import('./deliveries/view.tsx').then((file) => file.DeliveryView)),
  transaction: view('/transactions', text.transaction, () =>
    import('./transactions/view.tsx').then((file) => file.TransactionView),
  ),
  refund: view('/refunds', text.refund, () => import('./refunds/view.tsx').then((file) => file.RefundView)),
  withdrawal: view('/withdrawals', text.withdrawal, () =>
    import('./withdrawals/view.tsx').then((file) => file.WithdrawalView),
  ),
  settlement: view('/settlements', text.settlement, () =>
    import('./settlements/view.tsx').then((file) => file.SettlementView),
  ),
  merchant: view('/merchants', text.merchant, () => import('./merchants/view.tsx').then((file) => file.MerchantView)),
  proposal: view('/proposals', text.proposal, () => import('./proposals/view.tsx').then((file) => file.ProposalView)),
  kyc: view('/kyc', text.kyc, () => import('./kyc/view.tsx').then((file) => file.KycView)),
  bankAccount: view('/bank-accounts', text.bankAccount, () =>
    import('./bank-account/view.tsx').then((file) => file.BankAccountView),
  ),
};

export type ViewKind = keyof typeof VIEWS;

/** What people call a resource, from what its view reads; null: it may not be read, or not yet. */
const NAMES: Record<ViewKind, (id: string) => readonly (string | null | undefined)[] | null> = {
  merchant: useMerchantName,
  kyc: useMerchantName,
  bankAccount: useMerchantName,
  transaction: (id) => {
    const read = useRead('GET /api/ops/transactions/:transactionId', { params: { transactionId: id } }).data?.data;
    return read?.transactionId === id ? [read.checkoutOrderNo, read.merchantName] : null;
  },
  withdrawal: (id) => {
    const read = useRead('GET /api/ops/withdrawals/:withdrawalId', { params: { withdrawalId: id } }).data?.data;
    return read?.withdrawalId === id ? [birr(read.amount), read.merchantName] : null;
  },
  refund: (id) => {
    const read = useRead('GET /api/ops/refunds/:refundId', { params: { refundId: id } }).data?.data;
    return read?.refundId === id ? [birr(read.amount), read.merchantName] : null;
  },
  settlement: (id) => {
    const read = useRead('GET /api/ops/settlements/:settlementId', { params: { settlementId: id } }).data?.data;
    return read?.settlementId === id ? [birr(read.amount), read.merchantName] : null;
  },
  delivery: (id) => {
    const read = useRead('GET /api/ops/webhooks/deliveries/:deliveryId', { params: { deliveryId: id } }).data?.data;
    return read?.deliveryId === id ? [read.checkoutOrderNo ?? read.event, read.merchantName] : null;
  },
  proposal: (id) => {
    const read = useRead('GET /api/ops/proposals/:proposalId', { params: { proposalId: id } }).data?.data;
    return read?.proposalId === id ? [ACTIONS[read.action], read.merchantName] : null;
  },
};

function useMerchantName(id: string): readonly string[] | null {
  const merchant = useRead('GET /api/ops/merchants/:merchantId', { params: { merchantId: id } }).data?.data;
  // While that of another row is loaded, the former one is still there.
  return merchant?.merchantId === id ? [merchant.name] : null;
}

/** Names, amounts and order numbers; undefined where they cannot be read. */
function useNameOf(kind: ViewKind, id: string): string | undefined {
  const useName = NAMES[kind];
  const parts = useName(id);
  return parts ? listed(parts) : undefined;
}

/** What a view is and of what, or its id. */
function useTitle(kind: ViewKind, id: string): string {
  return text.about(VIEWS[kind].label, useNameOf(kind, id) ?? id);
}

/** What the commands of a view are carried out on, which their dialogs name. */
export const Subject = createContext<string | undefined>(undefined);

/** The address of the page of a resource, in its environment. */
export const viewPath = (kind: ViewKind, id: string): string => `${VIEWS[kind].path}/${encodeURIComponent(id)}`;

/** The view of a resource, which is loaded when it is shown. */
export function ViewOf({ kind, id }: { kind: ViewKind; id: string }) {
  const { View } = VIEWS[kind];
  return (
    <Subject value={useNameOf(kind, id)}>
      <View id={id} />
    </Subject>
  );
}

/** A resource beside the list. */
export function ViewDrawer({ kind, id, onClose }: { kind: ViewKind; id: string; onClose: () => void }) {
  const title = useTitle(kind, id);
  const navigate = useNavigate();
  return (
    <Drawer key={id} title={title} onClose={onClose}>
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
    return (
      <Page title={useTitle(kind, id)}>
        <div className={`card flex flex-col gap-5 p-4 sm:p-6 ${kind === 'kyc' ? 'max-w-7xl' : 'max-w-4xl'}`}>
          <ViewOf kind={kind} id={id} />
        </div>
      </Page>
    );
  };
