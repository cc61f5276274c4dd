import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';

import { base } from '../ui/environment.ts';
import { Broken } from '../ui/frame.tsx';
import { parseSearch, stringifySearch } from '../ui/search-params.ts';
import { NotFound, Shell } from './shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Broken });
const at = { getParentRoute: () => root };

const index = createRoute({
  ...at,
  path: '/',
  beforeLoad: (): never => {
    throw redirect({ to: '/deliveries', replace: true });
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
    path: '/deliveries',
    component: lazyRouteComponent(() => import('./deliveries/list.tsx'), 'Deliveries'),
  }),
  createRoute({
    ...at,
    path: '/deliveries/$deliveryId',
    component: lazyRouteComponent(() => import('./deliveries/detail.tsx'), 'DeliveryPage'),
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
