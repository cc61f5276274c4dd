import { readFile } from 'node:fs/promises';
import { parse as parseQuery } from 'node:querystring';

import { refuseOddJson } from '../http/body.ts';
import { declaredData } from '../http/guard.ts';
import type { Answer, FileAnswer, OperatorCaller, Route } from '../http/route.ts';
import { createValidator } from '../http/validate.ts';
import { UsageError, Verbatim } from '../lib/command-line.ts';
import { newId } from '../lib/ids.ts';
import { nothingMore, requireOperator } from './cli-deeds.ts';
import type { OpsCommandDeps, OpsVerb } from './cli-options.ts';

type OpsRoute = { route: Route; params: Record<string, string> };

/**
 * `meskot ops api METHOD PATH [BODY | FILE]`: any route of /api/ops by the table the API is served from, for what has no
 * verb of its own. Its data is printed as JSON, a file as its bytes.
 */
export const callRoute =
  (deps: Pick<OpsCommandDeps, 'db' | 'runChange' | 'demoOperatorId' | 'routes'>): OpsVerb =>
  async ({ options, args: [method = '', target = '', given, ...more] }) => {
    nothingMore(more, 'Put the body in quotes.');
    const [path = '', query = ''] = target.split('?', 2);
    const { route, params } = findRoute(deps.routes, method.toUpperCase(), path);
    const body = route.upload ? await readUpload(route.upload, given) : readJson(given);
    const input = {
      ...createValidator(route, route.operationId)({ params, query: parseQuery(query), body }),
      requestId: newId('req'),
      draining: new AbortController().signal,
    };
    const roles = route.auth.by === 'operator' ? route.auth.roles : [];
    const callerOf = async (db: OpsCommandDeps['db']): Promise<OperatorCaller> => {
      const { id, role } = await requireOperator(db, options, { demoOperatorId: deps.demoOperatorId, roles });
      return { kind: 'operator', operatorId: id, keyId: id, role };
    };
    // What a handler expects follows from its route's schemas and `auth`, which were just applied (as in guard.ts).
    if (!('write' in route))
      return printed(route, await route.handle({ ...input, caller: await callerOf(deps.db) } as never));
    return printed(
      route,
      await deps.runChange(async (change) =>
        route.handle({ ...input, change, caller: await callerOf(change.trx) } as never),
      ),
    );
  };

function printed(route: Route, answer: Answer<unknown> | FileAnswer | { dataJson: string }): Verbatim {
  if ('file' in answer) return new Verbatim(readAll(answer.file.open));
  const data: unknown = 'dataJson' in answer ? JSON.parse(answer.dataJson) : declaredData(route, answer);
  return new Verbatim([`${JSON.stringify(data, null, 2)}\n`]);
}

async function* readAll(open: FileAnswer['file']['open']): AsyncGenerator<Uint8Array> {
  yield* await open();
}

function findRoute(routes: readonly Route[], method: string, path: string): OpsRoute {
  const there = routes.flatMap((route) => {
    const pattern = new RegExp(`^${route.path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`);
    const match = pattern.exec(path);
    return match ? [{ route, params: { ...match.groups } }] : [];
  });
  const found = there.find(({ route }) => route.method === method);
  if (found) return found;
  const methods = there.map(({ route }) => route.method).join(', ');
  const hint = methods === '' ? 'The paths under /api/ops are listed at /docs.' : `It takes ${methods}.`;
  throw new UsageError(`There is no ${method} ${path}. ${hint}`);
}

function readJson(text = '{}'): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new UsageError(`The body must be JSON, as '{"reason": "Fraud"}'.`);
  }
  refuseOddJson(body);
  return body;
}

async function readUpload(
  { types: [contentType = ''], bytesMax }: NonNullable<Route['upload']>,
  file: string | undefined,
) {
  if (file === undefined) throw new UsageError(`This takes the name of a file (${contentType}).`);
  const bytes = await readFile(file).catch((error: Error) => {
    throw new UsageError(`The file cannot be read: ${error.message}.`);
  });
  if (bytes.length === 0 || bytes.length > bytesMax) {
    throw new UsageError(`The file must have 1 to ${bytesMax} bytes, got ${bytes.length}.`);
  }
  return { contentType, bytes };
}
