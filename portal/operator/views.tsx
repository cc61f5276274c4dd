import { useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, type ComponentType } from 'react';

import { Button } from '../ui/button.tsx';
import { Drawer } from '../ui/dialog.tsx';
import { Skeleton } from '../ui/feedback.tsx';
import { Page } from '../ui/page.tsx';
import { useRead } from './routes.ts';
import { text } from './text.ts';

/** Shows one resource of the API: its facts, its history and its commands. */
type View = ComponentType<{ id: string }>;

const view = (path: string, label: string, load: () => Promise<View>) => ({
  path,
  label,
  View: lazy(async () => ({ default: await load() })),
});

/** The resources that have a view: the path of its page, its name, and the component that is loaded when it is shown. */
const VIEWS = {
  delivery: view('/deliveries', text.delivery, () => import('./deliveries/view.tsx').then((file) => file.DeliveryView)),
  transaction: view('/transactions', text.transaction, () =>
    import('./transactions/view.tsx').then((file) => file.TransactionView),
  ),
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

/** The views whose id is that of a merchant. */
const OF_MERCHANT: readonly ViewKind[] = ['merchant', 'kyc', 'bankAccount'];

/** What a view is and whose: the name of the merchant, or the id of anything else. */
function useTitle(kind: ViewKind, id: string): string {
  const isOfMerchant = OF_MERCHANT.includes(kind);
  const read = useRead('GET /api/ops/merchants/:merchantId', { params: { merchantId: id } }, { enabled: isOfMerchant });
  const merchant = read.data?.data;
  // While that of another row is loaded, the former one is still there.
  const name = merchant?.merchantId === id ? merchant.name : '…';
  return text.about(VIEWS[kind].label, isOfMerchant ? name : id);
}

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
