import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';

import { base } from '../ui/environment.ts';
import { Broken } from '../ui/frame.tsx';
import { parseSearch, stringifySearch } from '../ui/search-params.ts';
import { NotFound, Shell } from './shell.tsx';
import { viewPage } from './views.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Broken });
const at = { getParentRoute: () => root };

const index = createRoute({
  ...at,
  path: '/',
  beforeLoad: (): never => {
    throw redirect({ to: '/queue', replace: true });
  },
});

/** The screens. Each is loaded when it is opened; the filters in their addresses are read by `useFilters`. */
const routeTree = root.addChildren([
  index,
  createRoute({
    ...at,
    path: '/find',
    component: lazyRouteComponent(() => import('./find/page.tsx'), 'Find'),
  }),
  createRoute({
    ...at,
    path: '/overview',
    component: lazyRouteComponent(() => import('./overview/page.tsx'), 'Overview'),
  }),
  createRoute({
    ...at,
    path: '/queue',
    component: lazyRouteComponent(() => import('./queue/list.tsx'), 'Queue'),
  }),
  createRoute({
    ...at,
    path: '/stalled',
    component: lazyRouteComponent(() => import('./queue/list.tsx'), 'Stalled'),
  }),
  createRoute({
    ...at,
    path: '/proposals',
    component: lazyRouteComponent(() => import('./proposals/list.tsx'), 'Proposals'),
  }),
  createRoute({ ...at, path: '/proposals/$id', component: viewPage('proposal') }),
  createRoute({
    ...at,
    path: '/transactions',
    component: lazyRouteComponent(() => import('./transactions/list.tsx'), 'Transactions'),
  }),
  createRoute({ ...at, path: '/transactions/$id', component: viewPage('transaction') }),
  createRoute({
    ...at,
    path: '/withdrawals',
    component: lazyRouteComponent(() => import('./withdrawals/list.tsx'), 'Withdrawals'),
  }),
  createRoute({ ...at, path: '/withdrawals/$id', component: viewPage('withdrawal') }),
  createRoute({
    ...at,
    path: '/settlements',
    component: lazyRouteComponent(() => import('./settlements/list.tsx'), 'Settlements'),
  }),
  createRoute({ ...at, path: '/settlements/$id', component: viewPage('settlement') }),
  createRoute({
    ...at,
    path: '/deliveries',
    component: lazyRouteComponent(() => import('./deliveries/list.tsx'), 'Deliveries'),
  }),
  createRoute({ ...at, path: '/deliveries/$id', component: viewPage('delivery') }),
  createRoute({ ...at, path: '/kyc/$id', component: viewPage('kyc') }),
  createRoute({ ...at, path: '/bank-accounts/$id', component: viewPage('bankAccount') }),
  createRoute({
    ...at,
    path: '/merchants',
    component: lazyRouteComponent(() => import('./merchants/list.tsx'), 'Merchants'),
  }),
  createRoute({ ...at, path: '/merchants/$id', component: viewPage('merchant') }),
  createRoute({
    ...at,
    path: '/reconciliation',
    component: lazyRouteComponent(() => import('./reconciliation/days.tsx'), 'Reconciliation'),
  }),
  createRoute({
    ...at,
    path: '/discrepancies',
    component: lazyRouteComponent(() => import('./reconciliation/discrepancies.tsx'), 'Discrepancies'),
  }),
  createRoute({
    ...at,
    path: '/receipts',
    component: lazyRouteComponent(() => import('./reconciliation/receipts.tsx'), 'Receipts'),
  }),
  createRoute({
    ...at,
    path: '/holidays',
    component: lazyRouteComponent(() => import('./holidays/page.tsx'), 'Holidays'),
  }),
  createRoute({
    ...at,
    path: '/operators',
    component: lazyRouteComponent(() => import('./operators/list.tsx'), 'Operators'),
  }),
  createRoute({
    ...at,
    path: '/audit',
    component: lazyRouteComponent(() => import('./audit/list.tsx'), 'Audit'),
  }),
  createRoute({
    ...at,
    path: '/security',
    component: lazyRouteComponent(() => import('./account.tsx'), 'SecurityPage'),
  }),
  createRoute({
    ...at,
    path: '/profile',
    component: lazyRouteComponent(() => import('./account.tsx'), 'ProfilePage'),
  }),
  createRoute({
    ...at,
    path: '/events/$eventId',
    component: lazyRouteComponent(() => import('./deliveries/event.tsx'), 'EventPage'),
  }),
]);

export const router = createRouter({
  routeTree,
  basepath: base,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: false,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
