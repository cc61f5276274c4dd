import { resolve } from 'node:path';

import { routesOf } from '../../src/app/routes.ts';
import { readConfig } from '../../src/config.ts';
import { healthRoutes } from '../../src/http/health.ts';
import { createLimits } from '../../src/http/limits.ts';
import { createOpenApiDocument, readExamples } from '../../src/http/openapi.ts';
import type { Route } from '../../src/http/route.ts';
import { createLogger } from '../../src/lib/log.ts';
import { NO_LIMITS } from '../support/http.ts';

/** A node of a JSON schema, or of the document around it. */
export type Node = { [name: string]: unknown };

const DOCS = resolve(import.meta.dirname, '../../docs');

/** Every route of the product, of all listeners; none of them can be called: nothing is behind them. */
export function productRoutes(): Route[] {
  const config = readConfig({ DATABASE_URL: 'postgresql://none', TEMPORAL_ADDRESS: 'none:7233' });
  const nothing = new Proxy({}, { get: () => nothing }) as never;
  const parts = {
    db: nothing,
    runInTransaction: nothing,
    findProvider: nothing,
    tokens: nothing,
    clock: () => new Date(),
    docsFolder: DOCS,
  };
  const table = routesOf(config, {
    ...parts,
    limits: createLimits(NO_LIMITS),
    log: createLogger('silent', 'test'),
  });
  const readiness = { countPendingMigrations: async () => 0, findFullDisk: async () => null };
  return [
    ...healthRoutes(readiness, new AbortController().signal),
    ...table.merchantRoutes,
    table.invitationRoutes.ofAll,
    ...table.operatorRoutes,
    ...table.portalRoutes,
    ...table.accountRoutes,
  ];
}

/** The examples of the API description. */
export const EXAMPLES = readExamples(DOCS);

/** The document of all listeners' routes, as `/openapi.json` of each has its own. */
export function productDocument(routes = productRoutes()): Node {
  const about = { version: 'test', baseUrl: 'http://meskot.test', serverUrl: '', examples: EXAMPLES };
  return JSON.parse(JSON.stringify(createOpenApiDocument(routes, about))) as Node;
}

/** The committed API description: without examples of responses, so that a change of the contract is easy to review. */
export const CONTRACT_FILE = resolve(DOCS, 'openapi.json');

/** The text of {@link CONTRACT_FILE} as the routes determine it now. */
export function contractText(): string {
  const about = { version: '0', baseUrl: '', serverUrl: '', examples: { ...EXAMPLES, responses: {} } };
  const document = createOpenApiDocument(productRoutes(), about);
  return `${JSON.stringify(document, (name, value: unknown) => (name === 'examples' ? undefined : value), 2)}\n`;
}

/** Every object in the document with the path that leads to it. */
export function* walk(node: unknown, path = ''): Generator<{ node: Node; path: string }> {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) yield { node: node as Node, path };
  for (const [name, inner] of Object.entries(node)) yield* walk(inner, `${path}/${name}`);
}
