import { createRouter } from '@tanstack/react-router';

import { createScreens, ROUTER_OPTIONS } from '../ui/router.tsx';
import { HOME } from './home.ts';
import { useMember } from './member.ts';
import { Shell } from './shell.tsx';
import { text } from './text.ts';

const { root, index, screen } = createScreens({ shell: Shell, home: HOME, homeLabel: text.toTransactions });

/** The screens. Each is loaded when it is opened; the filters in their addresses are read by `useFilters`. */
export const router = createRouter({
  ...ROUTER_OPTIONS,
  routeTree: root.addChildren([
    index,
    screen('/transactions', () => import('./transactions/list.tsx').then((file) => file.TransactionList)),
    screen('/transactions/$transactionId', () =>
      import('./transactions/detail.tsx').then((file) => file.TransactionPage),
    ),
    screen('/refunds', () => import('./refunds/list.tsx').then((file) => file.Refunds)),
    screen('/overview', () => import('./overview/overview.tsx').then((file) => file.Overview)),
    screen('/balance', () => import('./balance/balance.tsx').then((file) => file.Balance)),
    screen('/withdrawals', () => import('./withdrawals/list.tsx').then((file) => file.Withdrawals)),
    screen('/withdrawals/batch', () => import('./withdrawals/batch.tsx').then((file) => file.WithdrawalBatch)),
    screen('/settlements', () => import('./settlements/list.tsx').then((file) => file.Settlements)),
    screen('/reports', () => import('./reports/reports.tsx').then((file) => file.Reports)),
    screen('/webhooks', () => import('./webhooks/list.tsx').then((file) => file.Webhooks)),
    screen('/events', () => import('./events/list.tsx').then((file) => file.Events)),
    screen('/events/signature', () => import('./events/signature-helper.tsx').then((file) => file.SignatureHelper)),
    screen('/requests', () => import('./request-log/list.tsx').then((file) => file.RequestLog)),
    screen('/get-started', () => import('./get-started/page.tsx').then((file) => file.GetStarted)),
    screen('/channels', () => import('./channels/list.tsx').then((file) => file.Channels)),
    screen('/verification', () => import('./verification/page.tsx').then((file) => file.Verification)),
    screen('/bank-account', () => import('./bank-account/page.tsx').then((file) => file.BankAccountPage)),
    screen('/keys', () => import('./keys/list.tsx').then((file) => file.Keys)),
    screen('/team', () => import('./team/list.tsx').then((file) => file.Team)),
    screen('/audit', () => import('./audit/list.tsx').then((file) => file.Audit)),
    screen('/security', () => import('../ui/account/security.tsx').then((file) => file.SecurityPage)),
    screen('/profile', () => import('../ui/account/profile.tsx').then((file) => file.profilePage(useMember))),
  ]),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
