import { readFileSync } from 'node:fs';

import { routesOf } from '../../src/app/api.ts';
import { readConfig } from '../../src/config.ts';
import { healthRoutes } from '../../src/http/health.ts';
import { createLimits } from '../../src/http/limits.ts';
import { createOpenApiDocument, type RecordedResponses } from '../../src/http/openapi.ts';
import type { Route } from '../../src/http/route.ts';
import { createLogger } from '../../src/lib/log.ts';
import { NO_LIMITS } from '../support/http.ts';

/** A node of a JSON schema, or of the document around it. */
export type Node = { [name: string]: unknown };

/** Every route of the product, as the API serves them; none of them can be called: nothing is behind them. */
export function productRoutes(): Route[] {
  const config = readConfig({ DATABASE_URL: 'postgresql://none', TEMPORAL_ADDRESS: 'none:7233' });
  const nothing = new Proxy({}, { get: () => nothing }) as never;
  const parts = {
    db: nothing,
    runInTransaction: nothing,
    findProvider: nothing,
    tokens: nothing,
    clock: () => new Date(),
  };
  const { routes } = routesOf(config, {
    ...parts,
    limits: createLimits(NO_LIMITS),
    log: createLogger('silent', 'test'),
  });
  return [...healthRoutes({ countPendingMigrations: async () => 0 }, new AbortController().signal), ...routes];
}

const responses = JSON.parse(
  readFileSync(new URL('../../docs/answers.json', import.meta.url), 'utf8'),
) as RecordedResponses;
const ABOUT = { version: 'test', baseUrl: 'http://meskot.test', responses };

/** What `/openapi.json` serves. */
export function productDocument(routes = productRoutes()): Node {
  return JSON.parse(JSON.stringify(createOpenApiDocument(routes, ABOUT))) as Node;
}

/** Every object in the document with the path that leads to it. */
export function* walk(node: unknown, path = ''): Generator<{ node: Node; path: string }> {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) yield { node: node as Node, path };
  for (const [name, inner] of Object.entries(node)) yield* walk(inner, `${path}/${name}`);
}
