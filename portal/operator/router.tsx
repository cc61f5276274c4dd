import { createRoute, createRouter } from '@tanstack/react-router';

import { createScreens, ROUTER_OPTIONS } from '../ui/router.tsx';
import { useOperator } from './operator.ts';
import { HOME, Shell } from './shell.tsx';
import { text } from './text.ts';
import { viewPage } from './views.tsx';

const { root, at, index, screen } = createScreens({ shell: Shell, home: HOME, homeLabel: text.goOn });

/** The screens. Each is loaded when it is opened; the filters in their addresses are read by `useFilters`. */
export const router = createRouter({
  ...ROUTER_OPTIONS,
  routeTree: root.addChildren([
    index,
    screen('/find', () => import('./find/page.tsx').then((file) => file.Find)),
    screen('/overview', () => import('./overview/page.tsx').then((file) => file.Overview)),
    screen('/queue', () => import('./queue/list.tsx').then((file) => file.Queue)),
    screen('/stalled', () => import('./queue/list.tsx').then((file) => file.Stalled)),
    screen('/proposals', () => import('./proposals/list.tsx').then((file) => file.Proposals)),
    createRoute({ ...at, path: '/proposals/$id', component: viewPage('proposal') }),
    screen('/transactions', () => import('./transactions/list.tsx').then((file) => file.Transactions)),
    createRoute({ ...at, path: '/transactions/$id', component: viewPage('transaction') }),
    screen('/refunds', () => import('./refunds/list.tsx').then((file) => file.Refunds)),
    createRoute({ ...at, path: '/refunds/$id', component: viewPage('refund') }),
    screen('/withdrawals', () => import('./withdrawals/list.tsx').then((file) => file.Withdrawals)),
    createRoute({ ...at, path: '/withdrawals/$id', component: viewPage('withdrawal') }),
    screen('/settlements', () => import('./settlements/list.tsx').then((file) => file.Settlements)),
    createRoute({ ...at, path: '/settlements/$id', component: viewPage('settlement') }),
    screen('/deliveries', () => import('./deliveries/list.tsx').then((file) => file.Deliveries)),
    createRoute({ ...at, path: '/deliveries/$id', component: viewPage('delivery') }),
    createRoute({ ...at, path: '/kyc/$id', component: viewPage('kyc') }),
    createRoute({ ...at, path: '/bank-accounts/$id', component: viewPage('bankAccount') }),
    screen('/merchants', () => import('./merchants/list.tsx').then((file) => file.Merchants)),
    createRoute({ ...at, path: '/merchants/$id', component: viewPage('merchant') }),
    screen('/reconciliation', () => import('./reconciliation/days.tsx').then((file) => file.Reconciliation)),
    screen('/discrepancies', () => import('./reconciliation/discrepancies.tsx').then((file) => file.Discrepancies)),
    screen('/receipts', () => import('./reconciliation/receipts.tsx').then((file) => file.Receipts)),
    screen('/holidays', () => import('./holidays/page.tsx').then((file) => file.Holidays)),
    screen('/operators', () => import('./operators/list.tsx').then((file) => file.Operators)),
    screen('/maintenance', () => import('./maintenance/list.tsx').then((file) => file.MaintenanceWindows)),
    screen('/keys', () => import('./keys/list.tsx').then((file) => file.OwnKeys)),
    screen('/audit', () => import('./audit/list.tsx').then((file) => file.Audit)),
    screen('/security', () => import('../ui/account/security.tsx').then((file) => file.SecurityPage)),
    screen('/profile', () => import('../ui/account/profile.tsx').then((file) => file.profilePage(useOperator))),
    screen('/events/$eventId', () => import('./deliveries/event.tsx').then((file) => file.EventPage)),
  ]),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
