import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';

import { base } from '../ui/environment.ts';
import { Broken } from '../ui/frame.tsx';
import { parseSearch, stringifySearch, type Search } from '../ui/search-params.ts';
import { AuditSearch } from './audit/search.ts';
import { BalanceSearch } from './balance/search.ts';
import { EventSearch } from './events/search.ts';
import { ReportSearch } from './reports/search.ts';
import { RequestSearch } from './request-log/search.ts';
import { NotFound, Shell } from './shell.tsx';
import { TransactionSearch } from './transactions/search.ts';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Broken });
const at = { getParentRoute: () => root };

const anySearch = (search: Record<string, unknown>): Search => search as Search;

const index = createRoute({
  ...at,
  path: '/',
  beforeLoad: (): never => {
    throw redirect({ to: '/transactions', replace: true });
  },
});

/** The screens. Each is loaded when it is opened. */
const routeTree = root.addChildren([
  index,
  createRoute({
    ...at,
    path: '/transactions',
    validateSearch: TransactionSearch,
    component: lazyRouteComponent(() => import('./transactions/list.tsx'), 'TransactionList'),
  }),
  createRoute({
    ...at,
    path: '/transactions/$transactionId',
    component: lazyRouteComponent(() => import('./transactions/detail.tsx'), 'TransactionPage'),
  }),
  createRoute({
    ...at,
    path: '/overview',
    component: lazyRouteComponent(() => import('./overview/overview.tsx'), 'Overview'),
  }),
  createRoute({
    ...at,
    path: '/balance',
    validateSearch: BalanceSearch,
    component: lazyRouteComponent(() => import('./balance/balance.tsx'), 'Balance'),
  }),
  createRoute({
    ...at,
    path: '/withdrawals',
    validateSearch: anySearch,
    component: lazyRouteComponent(() => import('./withdrawals/list.tsx'), 'Withdrawals'),
  }),
  createRoute({
    ...at,
    path: '/settlements',
    validateSearch: anySearch,
    component: lazyRouteComponent(() => import('./settlements/list.tsx'), 'Settlements'),
  }),
  createRoute({
    ...at,
    path: '/reports',
    validateSearch: ReportSearch,
    component: lazyRouteComponent(() => import('./reports/reports.tsx'), 'Reports'),
  }),
  createRoute({
    ...at,
    path: '/webhooks',
    component: lazyRouteComponent(() => import('./webhooks/list.tsx'), 'Webhooks'),
  }),
  createRoute({
    ...at,
    path: '/events',
    validateSearch: EventSearch,
    component: lazyRouteComponent(() => import('./events/list.tsx'), 'Events'),
  }),
  createRoute({
    ...at,
    path: '/events/signature',
    component: lazyRouteComponent(() => import('./events/signature-helper.tsx'), 'SignatureHelper'),
  }),
  createRoute({
    ...at,
    path: '/requests',
    validateSearch: RequestSearch,
    component: lazyRouteComponent(() => import('./request-log/list.tsx'), 'RequestLog'),
  }),
  createRoute({
    ...at,
    path: '/get-started',
    component: lazyRouteComponent(() => import('./get-started/page.tsx'), 'GetStarted'),
  }),
  createRoute({
    ...at,
    path: '/channels',
    component: lazyRouteComponent(() => import('./channels/list.tsx'), 'Channels'),
  }),
  createRoute({
    ...at,
    path: '/verification',
    component: lazyRouteComponent(() => import('./verification/page.tsx'), 'Verification'),
  }),
  createRoute({
    ...at,
    path: '/bank-account',
    component: lazyRouteComponent(() => import('./bank-account/page.tsx'), 'BankAccountPage'),
  }),
  createRoute({
    ...at,
    path: '/keys',
    component: lazyRouteComponent(() => import('./keys/list.tsx'), 'Keys'),
  }),
  createRoute({
    ...at,
    path: '/team',
    component: lazyRouteComponent(() => import('./team/list.tsx'), 'Team'),
  }),
  createRoute({
    ...at,
    path: '/audit',
    validateSearch: AuditSearch,
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
