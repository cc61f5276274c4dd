import { findOperator, type Operator } from '../../access/operators.ts';
import { requireRole } from '../../http/auth.ts';
import { validateResponse } from '../../http/response.ts';
import type { FileResponse, OperatorRole, RawResponse, Route, RouteResult } from '../../http/route.ts';
import { createValidator } from '../../http/validate.ts';
import { UsageError } from '../../lib/command-line.ts';
import type { Queryable } from '../../lib/db.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { OpsCommandDeps } from './ops-options.ts';

export type CallDeps = Pick<OpsCommandDeps, 'db' | 'runInTransaction' | 'demoOperatorId' | 'routes'>;
export type CallResult = { route: Route; response: RouteResult<unknown> | FileResponse | RawResponse };

/** The operator that was named, or that of the demo data. */
type By = { operator?: string | undefined };
type Call = { method: string; path: string; query?: Record<string, unknown>; body?: unknown };

/** The acting operator. Throws unless they exist, are active, and have one of the roles. */
export async function requireOperator(
  db: Queryable,
  { operator: named }: By,
  { demoOperatorId, roles }: { demoOperatorId: string; roles: readonly OperatorRole[] },
): Promise<Operator> {
  const operator = await findOperator(db, named ?? demoOperatorId).catch((error: unknown) => {
    if (named !== undefined) throw error;
    throw new UsageError('Say who acts: --operator opr_… ("meskot ops staff" lists them).');
  });
  if (!operator.active) throw new AppError('INSUFFICIENT_SCOPE', `${operator.name} is switched off.`);
  return requireRole(operator, roles);
}

/** Calls an operators' route in this process, as the API does for the acting operator. */
export async function callRoute(deps: CallDeps, by: By, call: Call): Promise<CallResult> {
  const { route, run } = prepare(deps, by, call);
  if (!('write' in route)) return { route, response: await run(deps.db, {}) };
  return { route, response: await deps.runInTransaction(async (tx) => run(tx.trx, { tx })) };
}

export type CommandResult = { status: number; message: string; data: Record<string, string | number | null> };

/**
 * Calls a route that changes something. `check` gets its data before the commit: where it throws, nothing has changed.
 */
export async function callCommand(
  deps: CallDeps,
  { by, check }: { by: By; check?: (data: CommandResult['data']) => void },
  call: Call,
): Promise<CommandResult> {
  const { route, run } = prepare(deps, by, call);
  return deps.runInTransaction(async (tx) => {
    const response = (await run(tx.trx, { tx })) as RouteResult<unknown>;
    const data = validateResponse(route, response) as CommandResult['data'];
    check?.(data);
    return { status: response.status ?? 200, message: response.message, data };
  });
}

function prepare({ routes, demoOperatorId }: CallDeps, by: By, { method, path, query = {}, body = {} }: Call) {
  const { route, params } = findRoute(routes, method, path);
  const input = {
    ...createValidator(route, route.operationId)({ params, query, body }),
    requestId: newId('req'),
    signal: () => new AbortController().signal,
  };
  const roles = route.auth.by === 'operator' ? route.auth.roles : [];
  const run = async (db: Queryable, more: object): Promise<CallResult['response']> => {
    const { id, role } = await requireOperator(db, by, { demoOperatorId, roles });
    const caller = { kind: 'operator', operatorId: id, keyId: id, role } as const;
    // The handler's types follow from the route's schemas and `auth`, which were just applied (as in pipeline.ts).
    return route.handle({ ...input, ...more, caller } as never);
  };
  return { route, run };
}

/** The route of a path, and the parameters in it. Throws UsageError. */
export function findRoute(routes: readonly Route[], method: string, path: string) {
  const matches = routes.flatMap((route) => {
    const pattern = new RegExp(`^${route.path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`);
    const match = pattern.exec(path);
    return match ? [{ route, params: { ...match.groups } }] : [];
  });
  const found = matches.find(({ route }) => route.method === method);
  if (found) return found;
  const methods = matches.map(({ route }) => route.method).join(', ');
  const hint = methods === '' ? 'The paths under /api/ops are listed at /docs.' : `It takes ${methods}.`;
  throw new UsageError(`There is no ${method} ${path}. ${hint}`);
}
