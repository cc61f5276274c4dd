import { createSessionIdentification } from '../access/users/identify.ts';
import { portalUrlOf, type Config } from '../config.ts';
import type { Route } from '../http/route.ts';
import { createApiServer, type ApiServerDeps, type Listening } from '../http/server.ts';
import { createAssets } from '../portal/assets.ts';
import { createPortalPages, createSignInPages } from '../portal/pages/router.ts';
import type { ApiRoutes } from './routes.ts';

/** Whether people call a route: those of operators and of keys' invitations are of the API's listener. */
const isForPeople = ({ auth }: Route): boolean => auth.by !== 'operator' && auth.by !== 'public';

/**
 * The merchants' portal: the second listener of the API's process, with the same route table, for people who sign in. It
 * takes cookies and no keys; the API takes keys and never reads these cookies. null without PORTAL_URL.
 */
export async function startPortal(
  config: Config,
  shared: Omit<ApiServerDeps, 'identify' | 'routes' | 'routers' | 'docsFolder'>,
  { routes, portalRoutes }: ApiRoutes,
): Promise<Listening | null> {
  const { PORTAL_URL, PORTAL_PORT, PORTAL_PAGES_DIR, LISTEN_HOST: host, API_KEY_PEPPER: pepper, production } = config;
  if (PORTAL_URL === undefined) return null;
  const deps = { ...shared, portalUrl: portalUrlOf(config), pepper, showsMail: !production };
  const pages = PORTAL_PAGES_DIR === undefined ? undefined : await createAssets(PORTAL_PAGES_DIR, 'merchant');
  const server = createApiServer({
    ...deps,
    identify: createSessionIdentification(deps),
    routes: [...routes.filter(isForPeople), ...portalRoutes],
    routers: [createSignInPages(deps), createPortalPages(deps, pages)],
    docsFolder: null,
  });
  return server.listen(PORTAL_PORT, host);
}
