import { readFile } from 'node:fs/promises';
import { parse as parseQuery } from 'node:querystring';

import { rejectUnsafeJson } from '../../http/body.ts';
import { validateResponse } from '../../http/response.ts';
import type { RouteResult, FileResponse, OperatorCaller, Route } from '../../http/route.ts';
import { createValidator } from '../../http/validate.ts';
import { UsageError, Verbatim } from '../../lib/command-line.ts';
import type { Queryable } from '../../lib/db.ts';
import { newId } from '../../lib/ids.ts';
import { nothingMore, singleArgument, requireOperator } from './ops-decisions.ts';
import type { OpsCommandDeps, OpsVerb } from './ops-options.ts';

type CallDeps = Pick<OpsCommandDeps, 'db' | 'runInTransaction' | 'demoOperatorId' | 'routes'>;
type OpsRoute = { route: Route; params: Record<string, string> };

/**
 * `meskot ops api METHOD PATH [BODY | FILE]`: any route of /api/ops by the table the API is served from, for what has no
 * verb of its own. Its data is printed as JSON, a file as its bytes.
 */
export const callRoute =
  (deps: CallDeps): OpsVerb =>
  async ({ options, args: [method = '', target = '', given, ...more] }) => {
    nothingMore(more, 'Put the body in quotes.');
    const [path = '', query = ''] = target.split('?', 2);
    const { route, params } = findRoute(deps.routes, method.toUpperCase(), path);
    const body = route.upload ? await readUpload(route.upload, given) : readJson(given);
    const input = {
      ...createValidator(route, route.operationId)({ params, query: parseQuery(query), body }),
      requestId: newId('req'),
      signal: () => new AbortController().signal,
    };
    const roles = route.auth.by === 'operator' ? route.auth.roles : [];
    const callerOf = async (db: Queryable): Promise<OperatorCaller> => {
      const { id, role } = await requireOperator(db, options, { demoOperatorId: deps.demoOperatorId, roles });
      return { kind: 'operator', operatorId: id, keyId: id, role };
    };
    if (!('write' in route)) {
      return printed(route, await route.handle({ ...input, caller: await callerOf(deps.db) }));
    }
    return printed(
      route,
      await deps.runInTransaction(async (tx) => route.handle({ ...input, tx, caller: await callerOf(tx.trx) })),
    );
  };

/** Where each kind of thing is read. */
const PLACES = new Map([
  ['wd', 'withdrawals'],
  ['stl', 'settlements'],
  ['txn', 'transactions'],
  ['mrc', 'merchants'],
]);

/** `meskot ops show ID`: all there is to know of one thing. */
export const show =
  (deps: CallDeps): OpsVerb =>
  async ({ options, args }) => {
    const id = singleArgument(args, 'show');
    const place = PLACES.get(id.split('_')[0] ?? '');
    if (place === undefined) throw new UsageError(`show takes wd_…, stl_…, txn_… or mrc_…, got "${id}".`);
    return callRoute(deps)({ options, args: ['GET', `/api/ops/${place}/${id}`] });
  };

/** `meskot ops approve | suspend mrc_…/CHANNEL`; everything else is another verb's. */
export const channelOr =
  (deps: CallDeps, type: 'approve' | 'suspend', otherwise: OpsVerb): OpsVerb =>
  async (call) => {
    const [merchantId, channel] = call.args[0]?.split('/') ?? [];
    if (merchantId === undefined || channel === undefined) return otherwise(call);
    const { live, reason } = call.options;
    const body = JSON.stringify({ environment: live ? 'live' : 'sandbox', reason });
    const path = `/api/ops/merchants/${merchantId}/channels/${channel}/${type}`;
    return callRoute(deps)({ ...call, args: ['POST', path, body, ...call.args.slice(1)] });
  };

function printed(route: Route, response: RouteResult<unknown> | FileResponse | { dataJson: string }): Verbatim {
  if ('file' in response) return new Verbatim(readAll(response.file.open));
  const data: unknown = 'dataJson' in response ? JSON.parse(response.dataJson) : validateResponse(route, response);
  return new Verbatim([`${JSON.stringify(data, null, 2)}\n`]);
}

async function* readAll(open: FileResponse['file']['open']): AsyncGenerator<Uint8Array> {
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
  rejectUnsafeJson(body);
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
