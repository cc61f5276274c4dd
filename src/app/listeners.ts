import { createOperatorIdentification, createSessionIdentification, type Site } from '../access/users/identify.ts';
import type { Config } from '../config.ts';
import type { Identify } from '../http/pipeline.ts';
import type { Route } from '../http/route.ts';
import { createApiServer, type ApiServerDeps, type Listening } from '../http/server.ts';
import { createAssets } from '../portal/assets.ts';
import { createPages, createSignInPages } from '../portal/pages/router.ts';
import type { ApiRoutes } from './routes.ts';

type Shared = Omit<ApiServerDeps, 'identify' | 'routes' | 'routers' | 'docs'>;

/** By keys and tokens, as the API's own listener; `docsFolder`: the project's docs. */
type Keyed = { identifyByKey: Identify; docsFolder: string };

/** The API's own listener, for merchants, customers and providers. A setting adds the operators' routes, for keys. */
export async function startPublicApi(
  { API_PORT: port, LISTEN_HOST: host, OPERATORS_ON_PUBLIC_API: isForOperators }: Config,
  { identifyByKey: identify, docsFolder, ...shared }: Shared & Keyed,
  { merchantRoutes, operatorRoutes, invitationRoutes, routers }: ApiRoutes,
): Promise<Listening> {
  const documented = [...merchantRoutes, isForOperators ? invitationRoutes.ofAll : invitationRoutes.ofMerchants];
  const routes = [...documented, ...(isForOperators ? operatorRoutes : [])];
  const docs = { docsFolder, routes: documented, serverUrl: shared.baseUrl };
  return createApiServer({ ...shared, identify, routes, routers, docs }).listen(port, host);
}

/** Whether people of merchants call a route: those of everybody are not theirs. */
const isForPeople = ({ auth }: Route): boolean => auth.by !== 'public';

/**
 * The merchants' portal, with the same route table, for people who sign in. It takes cookies and no keys; the API takes keys
 * and never reads these cookies. null without PORTAL_URL.
 */
export async function startPortal(
  config: Config,
  shared: Shared,
  { merchantRoutes, portalRoutes, accountRoutes }: ApiRoutes,
): Promise<Listening | null> {
  const { PORTAL_URL: url, PORTAL_PORT: port, LISTEN_HOST: host } = config;
  if (url === undefined) return null;
  const site = { audience: 'portal', url } as const;
  const routers = await pagesOf(config, shared, site);
  const routes = [...merchantRoutes.filter(isForPeople), ...portalRoutes, ...accountRoutes];
  const identify = createSessionIdentification({ ...shared, site });
  return createApiServer({ ...shared, identify, routes, routers, docs: null }).listen(port, host);
}

/**
 * The operators' listener, on an address of its own: their routes, for their keys, with the reference of these routes. With
 * CONSOLE_URL it is the console, too: its pages, and the same routes for people who sign in.
 */
export async function startOperatorsListener(
  config: Config,
  { identifyByKey, docsFolder, ...shared }: Shared & Keyed,
  { operatorRoutes, invitationRoutes, accountRoutes }: ApiRoutes,
): Promise<Listening> {
  const { CONSOLE_URL: url, CONSOLE_PORT: port, CONSOLE_HOST: host } = config;
  const ofKeys = [invitationRoutes.ofOperators, ...operatorRoutes];
  const docs = { docsFolder, routes: ofKeys, serverUrl: '' };
  if (url === undefined) {
    const server = createApiServer({ ...shared, identify: identifyByKey, routes: ofKeys, routers: [], docs });
    return server.listen(port, host);
  }
  const site = { audience: 'console', url } as const;
  const identify = createOperatorIdentification({ ...shared, site }, identifyByKey);
  const routers = await pagesOf(config, shared, site);
  const routes = [...ofKeys, ...accountRoutes];
  return createApiServer({ ...shared, identify, routes, routers, docs }).listen(port, host);
}

/** The sign-in, and the pages of people where they are built. */
async function pagesOf(
  { PORTAL_PAGES_DIR, API_KEY_PEPPER: pepper, PUBLIC_BASE_URL: apiUrl, production }: Config,
  shared: Shared,
  site: Site,
) {
  const entry = site.audience === 'portal' ? 'merchant' : 'operator';
  const pages = PORTAL_PAGES_DIR === undefined ? undefined : await createAssets(PORTAL_PAGES_DIR, entry);
  const prefetched = pages?.first ?? [];
  const deps = { ...shared, site, pepper, apiUrl, showsMail: !production, prefetched };
  return [createSignInPages(deps), createPages(deps, pages?.serve)];
}
