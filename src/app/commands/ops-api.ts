import { readFile } from 'node:fs/promises';
import { parse as parseQuery } from 'node:querystring';

import { rejectUnsafeJson } from '../../http/body.ts';
import { validateResponse } from '../../http/response.ts';
import type { FileResponse, Route } from '../../http/route.ts';
import { UsageError, Verbatim } from '../../lib/command-line.ts';
import { callRoute, findRoute, type CallDeps, type CallResult } from './call-route.ts';
import { nothingMore, singleArgument } from './ops-decisions.ts';
import type { OpsVerb } from './ops-options.ts';

/**
 * `meskot ops api METHOD PATH [BODY | FILE]`: any route of /api/ops, for what has no verb of its own. Its data is printed
 * as JSON, a file as its bytes.
 */
export const callApi =
  (deps: CallDeps): OpsVerb =>
  async ({ options, args: [method = '', target = '', given, ...more] }) => {
    nothingMore(more, 'Put the body in quotes.');
    const [path = '', queryText = ''] = target.split('?', 2);
    const found = findRoute(deps.routes, method.toUpperCase(), path);
    const body = found.route.upload ? await readUpload(found.route.upload, given) : readJson(given);
    const call = { method: method.toUpperCase(), path, query: parseQuery(queryText), body };
    return printed(await callRoute(deps, options, call));
  };

/** The paths of resources by the prefix of their ids. */
const RESOURCES = new Map([
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
    const noun = RESOURCES.get(id.split('_')[0] ?? '');
    if (noun === undefined) throw new UsageError(`show takes wd_…, stl_…, txn_… or mrc_…, got "${id}".`);
    return callApi(deps)({ options, args: ['GET', `/api/ops/${noun}/${id}`] });
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
    return callApi(deps)({ ...call, args: ['POST', path, body, ...call.args.slice(1)] });
  };

function printed({ route, response }: CallResult): Verbatim {
  if ('file' in response) return new Verbatim(readAll(response.file.open));
  const data: unknown = 'dataJson' in response ? JSON.parse(response.dataJson) : validateResponse(route, response);
  return new Verbatim([`${JSON.stringify(data, null, 2)}\n`]);
}

async function* readAll(open: FileResponse['file']['open']): AsyncGenerator<Uint8Array> {
  yield* await open();
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
