import type { Route } from './route.ts';

export const SECURITY: Record<Route['auth']['by'], Record<string, string[]>[]> = {
  key: [{ apiKey: [] }, { bearer: [] }],
  'key-or-client-token': [{ apiKey: [] }, { bearer: [] }, { clientToken: [] }],
  member: [{ portalSession: [] }],
  person: [{ portalSession: [] }],
  operator: [{ operatorKey: [] }, { operatorBearer: [] }, { consoleSession: [] }],
  public: [],
};

const SECURITY_SCHEMES = {
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  bearer: { type: 'http', scheme: 'bearer', description: 'The API key as a Bearer token' },
  operatorKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: "An operator's key" },
  operatorBearer: { type: 'http', scheme: 'bearer', description: "An operator's key as a Bearer token" },
  portalSession: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-meskot_portal',
    description:
      'The session of a person, served at the address of the portal only. Requests there carry this cookie and the header X-Meskot-Environment (sandbox or live), and no key. With the header X-Meskot-Merchant they are rejected unless the session is of that merchant.',
  },
  consoleSession: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-meskot_console',
    description:
      'The session of an operator, at the address of the console only. Of a request that carries a key as well, the key counts.',
  },
  clientToken: {
    type: 'apiKey',
    in: 'header',
    name: 'x-client-token',
    description:
      'The token of one checkout session. The hosted page of the session also has it as a cookie, which browsers send with the calls below /api/checkout/sessions/{sessionId}, but not to the hooks.',
  },
} as const;

/** The schemes of these routes, for the document's components. */
export function schemesOf(routes: readonly Route[]): Partial<typeof SECURITY_SCHEMES> {
  const used = new Set(routes.flatMap(({ auth }) => SECURITY[auth.by].flatMap(Object.keys)));
  return Object.fromEntries(Object.entries(SECURITY_SCHEMES).filter(([name]) => used.has(name)));
}

/** Who may call a route, in words. */
export function permissionText({ auth, stepUp }: Pick<Route, 'auth' | 'stepUp'>): string {
  if (auth.by === 'public') return '';
  if (auth.by === 'person') return 'Any person who is signed in to the portal.';
  if (auth.by === 'member') return `People with the permission \`${auth.permission}\`.`;
  if (auth.by !== 'operator') return `Scope of restricted keys: \`${auth.scope}\`.`;
  const roles = [...new Set([...auth.roles, 'admin'])].map((role) => `\`${role}\``).join(' or ');
  const who = auth.roles.includes('viewer') ? 'Any operator.' : `Role of operators: ${roles}.`;
  return stepUp ? `${who} At the console with a code that was entered in the last 5 minutes.` : who;
}
