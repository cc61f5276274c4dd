import { createSessionIdentification, type Site } from '../access/users/identify.ts';
import type { Config } from '../config.ts';
import type { Route } from '../http/route.ts';
import { createApiServer, type ApiServerDeps, type Listening } from '../http/server.ts';
import { createAssets } from '../portal/assets.ts';
import { createPages, createSignInPages } from '../portal/pages/router.ts';
import type { ApiRoutes } from './routes.ts';

type Shared = Omit<ApiServerDeps, 'identify' | 'routes' | 'routers' | 'docsFolder'>;

/** Whether people of merchants call a route: those of operators and of keys' invitations are not theirs. */
const isForPeople = ({ auth }: Route): boolean => auth.by !== 'operator' && auth.by !== 'public';

/**
 * The merchants' portal: the second listener of the API's process, with the same route table, for people who sign in. It
 * takes cookies and no keys; the API takes keys and never reads these cookies. null without PORTAL_URL.
 */
export async function startPortal(
  config: Config,
  shared: Shared,
  { routes, portalRoutes, accountRoutes }: ApiRoutes,
): Promise<Listening | null> {
  const { PORTAL_URL: url, PORTAL_PORT: port } = config;
  if (url === undefined) return null;
  const site = { audience: 'portal', url } as const;
  const served = [...routes.filter(isForPeople), ...portalRoutes, ...accountRoutes];
  return listen(config, shared, { site, entry: 'merchant', port, routes: served });
}

/** The operators' console: the third listener, with the operators' routes, as private as they are. null without CONSOLE_URL. */
export async function startConsole(
  config: Config,
  shared: Shared,
  { routes, accountRoutes }: ApiRoutes,
): Promise<Listening | null> {
  const { CONSOLE_URL: url, CONSOLE_PORT: port } = config;
  if (url === undefined) return null;
  const site = { audience: 'console', url } as const;
  const served = [...routes.filter(({ auth }) => auth.by === 'operator'), ...accountRoutes];
  return listen(config, shared, { site, entry: 'operator', port, routes: served });
}

type Listener = Pick<ApiServerDeps, 'routes'> & {
  site: Site;
  /** The pages, where they are built. */
  entry: 'merchant' | 'operator';
  port: number;
};

async function listen(
  { PORTAL_PAGES_DIR, LISTEN_HOST: host, API_KEY_PEPPER: pepper, PUBLIC_BASE_URL: apiUrl, production }: Config,
  shared: Shared,
  { site, entry, port, routes }: Listener,
): Promise<Listening> {
  const pages = PORTAL_PAGES_DIR === undefined ? undefined : await createAssets(PORTAL_PAGES_DIR, entry);
  const prefetched = pages?.first ?? [];
  const deps = { ...shared, site, pepper, apiUrl, showsMail: !production, prefetched };
  const routers = [createSignInPages(deps), createPages(deps, pages?.serve)];
  const identify = createSessionIdentification({ ...shared, site });
  return createApiServer({ ...shared, identify, routes, routers, docsFolder: null }).listen(port, host);
}
