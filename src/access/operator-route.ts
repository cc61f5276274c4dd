import { z } from 'zod';

import {
  readRoute,
  writeRoute,
  type Endpoint,
  type Pagination,
  type ReadRoute,
  type Route,
  type RouteInput,
  type RouteResult,
  type WriteRoute,
} from '../http/route.ts';
import { createValidator } from '../http/validate.ts';
import type { Queryable } from '../lib/db.ts';
import { readPage, type Page, type PageQuery } from '../lib/pagination.ts';
import { dryRun, type UnitOfWork } from '../outbox/record.ts';
import { recordAudit, type AuditContext, type AuditedChange } from './audit.ts';
import { withNames } from './names.ts';
import { Proposal as ProposalSchema } from './operator-schema.ts';
import { requirePermission, STEP_UP_ACTIONS, type Action } from './permissions.ts';
import { auditOfProposal, createProposal, ensureUnchanged, presentProposal, type Proposal } from './proposals.ts';

type OperatorAuth = ReturnType<typeof requirePermission>;

/** The response to an operator's command, and its audit row without action and reason; null: nothing has changed. */
export type OperatorResult = Omit<RouteResult<unknown>, 'audit'> & { audit: AuditedChange | null };

type OperatorRoute<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = Omit<
  WriteRoute<OperatorAuth, P, Q, B>,
  'method' | 'path' | 'write' | 'tag' | 'auth' | 'stepUp' | 'handle'
> & {
  /** What the audit log calls the change. */
  action: Action;
  /** Which permission the caller needs; that of the action unless given. */
  permission?: Action;
  /** Whether another operator confirms the change before it is made. */
  secondPerson?: 'always' | OperatorHandler<P, Q, B, boolean>;
  run: OperatorHandler<P, Q, B, OperatorResult>;
};
type OperatorHandler<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, Result> = (
  context: AuditContext,
  input: RouteInput<OperatorAuth, z.output<P>, z.output<Q>, z.output<B>>,
) => Promise<Result>;

type OperatorInput = RouteInput<OperatorAuth, unknown, unknown, unknown>;

/** A route whose change another operator may have to confirm. */
export type ProposableRoute = Route & {
  permission: Action;
  /** Makes the proposed change and writes its audit row; returns the message of the response. Throws INVALID_STATE if outdated. */
  confirm: (context: AuditContext, proposal: Proposal, input: OperatorInput) => Promise<string>;
};

/**
 * Declares a route by which an operator changes something. Its audit row is written from what `run` returns, with the
 * `reason` of the body, in the transaction of the change. Where `secondPerson` applies, `run` is tried and undone, and the
 * change is stored as a proposal, which another operator confirms.
 */
export function operatorRoute<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  endpoint: Endpoint,
  route: OperatorRoute<P, Q, B>,
): Route {
  const { action, permission = action, secondPerson, run, ...declared } = route;
  const needsSecondPerson: OperatorHandler<P, Q, B, boolean> =
    typeof secondPerson === 'function' ? secondPerson : async () => secondPerson === 'always';
  const written = writeRoute<OperatorAuth, P, Q, B>(endpoint, {
    ...declared,
    ...(secondPerson && proposedResponse(declared, secondPerson === 'always')),
    tag: 'Operators',
    auth: requirePermission(permission),
    ...(STEP_UP_ACTIONS.includes(action) && { stepUp: 'always' }),
    handle: async (input) => {
      const context = auditContextOf(input);
      const reason = (input.body as { reason?: string } | undefined)?.reason;
      if (!(await needsSecondPerson(context, input))) {
        const { audit, message, ...response } = await runAudited(context, { action, reason }, () =>
          run(context, input),
        );
        const actsAlone = secondPerson !== undefined && audit?.environment === 'sandbox';
        const notices = actsAlone ? ['In live another operator may have to confirm it.'] : (context.notices ?? []);
        return { ...response, message: [message, ...notices].join('. ') };
      }
      const { audit: change, ...response } = await dryRun(context.tx, (tx) => run({ ...context, tx }, input));
      if (!change) return response;
      const { operationId } = declared;
      const request = { params: input.params, body: input.body };
      const proposal = await createProposal(context, { operationId, action, request, change, reason });
      await recordAudit(context, { ...auditOfProposal(proposal), action: 'proposal.create', reason });
      return { status: 202, message: 'Proposed; another operator has to confirm it', data: presentProposal(proposal) };
    },
  });
  if (!secondPerson) return written;
  const check = createValidator(declared, declared.operationId);
  const confirm: ProposableRoute['confirm'] = async (context, proposal, input) => {
    // The types follow from the route's schemas, which were just applied (as in http/pipeline.ts).
    const parts = check({ ...proposal.request, query: {} }) as Parameters<typeof run>[1];
    const { proposedBy, reason } = proposal;
    const { audit, message } = await run({ ...context, proposedBy }, { ...input, ...parts });
    ensureUnchanged(proposal, audit);
    await recordAudit(context, { ...audit, action, proposedBy, reason: reason ?? undefined });
    return message;
  };
  return Object.assign(written, { permission, confirm });
}

function proposedResponse(declared: { description?: string; responses: Route['responses'] }, always: boolean) {
  const when = always ? '' : 'Where two operators are needed (docs/operations/operators.md): ';
  const proposed = `${when}202 with a proposal, which another operator has to confirm before anything changes.`;
  return {
    description: declared.description ? `${declared.description} ${proposed}` : proposed,
    responses: { ...declared.responses, 202: ProposalSchema },
  };
}

/** The context of an operator's request. */
export function auditContextOf(request: Pick<OperatorInput, 'caller' | 'requestId' | 'at'> & { tx: UnitOfWork }) {
  const { caller, tx, requestId, at } = request;
  return { tx, operatorId: caller.operatorId, requestId, at, notices: [] as string[] };
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

export const ANY_OPERATOR: OperatorAuth = { by: 'operator', roles: ['viewer'] };

type OperatorReadRoute<P extends z.ZodType, Q extends z.ZodType> = Omit<
  ReadRoute<OperatorAuth, P, Q, z.ZodType>,
  'method' | 'path' | 'tag' | 'auth'
> & {
  /** Which permission the caller needs; without one any role may read. */
  permission?: Action;
};

/** Declares a route by which operators read. */
export function operatorReadRoute<P extends z.ZodType, Q extends z.ZodType>(
  endpoint: Endpoint<'GET'>,
  { permission, ...declared }: OperatorReadRoute<P, Q>,
): Route {
  return readRoute<OperatorAuth, P, Q, z.ZodType>(endpoint, {
    ...declared,
    tag: 'Operators',
    auth: permission === undefined ? ANY_OPERATOR : requirePermission(permission),
  });
}

type OperatorListRoute<Q extends z.ZodType<PageQuery>, Row> = Pick<
  OperatorReadRoute<z.ZodType, Q>,
  'operationId' | 'cli' | 'summary' | 'description' | 'permission'
> & {
  query: Q;
  item: z.ZodType;
  /** What the list has, in the message of the response. */
  name: string;
  list: (query: z.output<Q>, page: Page, at: Date) => Promise<{ rows: Row[]; pagination: Pagination }>;
  present: (row: Row) => object;
  /** Fields with ids to which names are added. */
  names?: { db: Queryable; fields: readonly string[] };
};

/** Declares a route by which operators read a list page by page. */
export function operatorListRoute<Q extends z.ZodType<PageQuery>, Row>(
  endpoint: Endpoint<'GET'>,
  { item, name, list, present, names, ...declared }: OperatorListRoute<Q, Row>,
): Route {
  return operatorReadRoute(endpoint, {
    ...declared,
    responses: { 200: z.array(item) },
    paginated: true,
    handle: async ({ query, at }) => {
      const { rows, pagination } = await list(query, readPage(query), at);
      const presented = rows.map(present);
      const data = names ? await withNames(names.db, presented, names.fields) : presented;
      return { message: `${name} retrieved`, data, pagination };
    },
  });
}

/** The page of a workflow in the Temporal UI; null if no UI is configured. */
export type WorkflowUrl = (workflowId: string) => string | null;

/** Paths of operators' routes by what is done there: the verbs that a resource's state allows. */
export type ActionLinks = Record<string, string>;

/** The links of these verbs under one resource's path. */
export function actionLinks(path: string, ...verbs: string[]): ActionLinks {
  return Object.fromEntries(verbs.map((verb) => [verb, `/api/ops/${path}/${verb}`]));
}
