import type { z } from 'zod';

import {
  readRoute,
  writeRoute,
  type ReadRoute,
  type Route,
  type RouteInput,
  type RouteResult,
  type WriteRoute,
} from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { recordAudit, type AuditContext, type AuditedChange } from './audit.ts';
import { requirePermission, type Action } from './permissions.ts';

type OperatorAuth = ReturnType<typeof requirePermission>;

/** The response to an operator's command, and its audit row without action and reason; null: nothing has changed. */
export type OperatorResult = RouteResult<unknown> & { audit: AuditedChange | null };

type OperatorRoute<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = Omit<
  WriteRoute<OperatorAuth, P, Q, B>,
  'write' | 'tag' | 'auth' | 'handle'
> & {
  /** What the audit log calls the change. */
  action: Action;
  /** Which permission the caller needs; that of the action unless given. */
  permission?: Action;
  clock: Clock;
  run: (
    context: AuditContext,
    input: RouteInput<OperatorAuth, z.output<P>, z.output<Q>, z.output<B>>,
  ) => Promise<OperatorResult>;
};

/**
 * Declares a route by which an operator changes something. Its audit row is written from what `run` returns, with the
 * `reason` of the body, in the transaction of the change.
 */
export function operatorRoute<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  route: OperatorRoute<P, Q, B>,
): Route {
  const { action, permission = action, clock, run, ...declared } = route;
  return writeRoute<OperatorAuth, P, Q, B>({
    ...declared,
    tag: 'Operators',
    auth: requirePermission(permission),
    handle: async (input) => {
      const { operatorId, keyId } = input.caller;
      const context = { tx: input.tx, operatorId, keyId, requestId: input.requestId, at: clock() };
      const { audit: _, ...response } = await runAudited(context, { action, reason: reasonOf(input.body) }, () =>
        run(context, input),
      );
      return response;
    },
  });
}

function reasonOf(body: unknown): string | undefined {
  return (body as { reason?: string } | undefined)?.reason;
}

/** Runs an operator's change and writes its audit row; a change that returns no `audit` writes none. */
export async function runAudited<Result extends { audit: AuditedChange | null }>(
  context: AuditContext,
  { action, reason }: { action: Action; reason?: string | undefined },
  run: (context: AuditContext) => Promise<Result>,
): Promise<Result> {
  const result = await run(context);
  if (result.audit) await recordAudit(context, { ...result.audit, action, reason });
  return result;
}

const ANY_OPERATOR: OperatorAuth = { by: 'operator', roles: ['viewer'] };

type OperatorReadRoute<P extends z.ZodType, Q extends z.ZodType> = Omit<
  ReadRoute<OperatorAuth, P, Q, z.ZodType>,
  'method' | 'tag' | 'auth'
> & {
  /** Which permission the caller needs; without one any role may read. */
  permission?: Action;
};

/** Declares a route by which operators read. */
export function operatorReadRoute<P extends z.ZodType, Q extends z.ZodType>({
  permission,
  ...declared
}: OperatorReadRoute<P, Q>): Route {
  return readRoute<OperatorAuth, P, Q, z.ZodType>({
    ...declared,
    method: 'GET',
    tag: 'Operators',
    auth: permission === undefined ? ANY_OPERATOR : requirePermission(permission),
  });
}

/** Paths of operators' routes by what is done there: the verbs that a resource's state allows. */
export type ActionLinks = Record<string, string>;

/** The links of these verbs under one resource's path. */
export function actionLinks(path: string, ...verbs: string[]): ActionLinks {
  return Object.fromEntries(verbs.map((verb) => [verb, `/api/ops/${path}/${verb}`]));
}
