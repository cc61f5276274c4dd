import { z } from 'zod';

import { requireRole } from '../http/auth.ts';
import { writeRoute, type OperatorCaller, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { readPage } from '../lib/pagination.ts';
import type { AuditContext } from './audit.ts';
import {
  ANY_OPERATOR,
  auditContextOf,
  operatorReadRoute,
  operatorRoute,
  type ProposableRoute,
} from './operator-route.ts';
import * as schema from './operator-schema.ts';
import { PERMISSIONS } from './permissions.ts';
import {
  aboutProposal,
  closeProposal,
  listProposals,
  lockPending,
  presentProposal,
  readProposal,
  type Proposal,
} from './proposals.ts';

/** `routes`: those whose changes are proposed. */
type Deps = { db: Database; clock: Clock; routes: readonly Route[] };

/** Proposals, and the decisions about them. */
export function proposalRoutes(deps: Deps): Route[] {
  const proposable = new Map(
    deps.routes.flatMap((route) => ('confirm' in route ? [[route.operationId, route as ProposableRoute]] : [])),
  );
  /** Locks a pending proposal for somebody who has the permission of its action. */
  const lockFor = async (context: AuditContext, caller: OperatorCaller, id: string) => {
    const proposal = await lockPending(context, id);
    const route = proposable.get(proposal.operationId);
    if (!route) throw new Error(`${proposal.operationId} confirms no proposals`);
    requireRole(caller, PERMISSIONS[route.permission]);
    return { proposal, route };
  };
  return [...queryRoutes(deps), confirmRoute(deps, lockFor), rejectRoute(deps, lockFor), withdrawRoute(deps)];
}

type LockFor = (
  context: AuditContext,
  caller: OperatorCaller,
  id: string,
) => Promise<{ proposal: Proposal; route: ProposableRoute }>;

function queryRoutes({ db, clock }: Deps): Route[] {
  return [
    operatorReadRoute('GET /api/ops/proposals', {
      operationId: 'opsListProposals',
      cli: { name: 'proposals list', columns: 'proposedAt proposalId action resourceId status reason' },
      summary: 'List proposals, newest first',
      rateLimit: 'list',
      query: schema.ProposalListQuery,
      responses: { 200: z.array(schema.Proposal) },
      paginated: true,
      handle: async ({ query }) => {
        const filter = { statuses: query.status ?? null, at: clock() };
        const { rows, pagination } = await listProposals(db, filter, readPage(query));
        return { message: 'Proposals retrieved', data: rows.map(presentProposal), pagination };
      },
    }),
    operatorReadRoute('GET /api/ops/proposals/:proposalId', {
      operationId: 'opsGetProposal',
      cli: 'proposals get',
      summary: 'Get a proposal, with the fields that it changes before and after',
      params: schema.ProposalParams,
      responses: { 200: schema.Proposal },
      handle: async ({ params }) => ({
        message: 'Proposal retrieved',
        data: presentProposal(await readProposal(db, params.proposalId, clock())),
      }),
    }),
  ];
}

function confirmRoute({ clock }: Deps, lockFor: LockFor): Route {
  return writeRoute('POST /api/ops/proposals/:proposalId/confirm', {
    operationId: 'opsConfirmProposal',
    cli: { name: 'proposals confirm', confirm: true },
    tag: 'Operators',
    summary: 'Confirm a proposal, which makes its change; the proposer cannot',
    description: 'Needs the permission of its action. What it changes must still be as in before.',
    auth: ANY_OPERATOR,
    params: schema.ProposalParams,
    body: schema.OptionalReason,
    responses: { 200: schema.Proposal },
    errors: ['INVALID_STATE', 'DUPLICATE_REFERENCE'],
    handle: async (input) => {
      const context = auditContextOf(input, clock);
      const { proposal, route } = await lockFor(context, input.caller, input.params.proposalId);
      ensureOther(context, proposal, 'confirm');
      const message = await route.confirm(context, proposal, input);
      const { id } = proposal;
      const closed = await closeProposal(context, { id, status: 'CONFIRMED', reason: input.body.reason });
      return { message, data: presentProposal(closed) };
    },
  });
}

function ensureOther({ operatorId }: AuditContext, { proposedBy }: Proposal, verb: 'confirm' | 'reject'): void {
  if (proposedBy !== operatorId) return;
  throw new AppError('INVALID_STATE', `You proposed this: another operator has to ${verb} it. You can withdraw it.`);
}

function rejectRoute({ clock }: Deps, lockFor: LockFor): Route {
  return operatorRoute('POST /api/ops/proposals/:proposalId/reject', {
    operationId: 'opsRejectProposal',
    cli: 'proposals reject',
    summary: 'Reject a proposal of another operator',
    description: 'Needs the permission of its action.',
    action: 'proposal.reject',
    clock,
    params: schema.ProposalParams,
    body: schema.Reason,
    responses: { 200: schema.Proposal },
    errors: ['INVALID_STATE'],
    run: async (context, { caller, params, body }) => {
      const { proposal } = await lockFor(context, caller, params.proposalId);
      ensureOther(context, proposal, 'reject');
      const closed = await closeProposal(context, { id: proposal.id, status: 'REJECTED', reason: body.reason });
      return { message: 'Proposal rejected', data: presentProposal(closed), audit: aboutProposal(closed) };
    },
  });
}

function withdrawRoute({ clock }: Deps): Route {
  return operatorRoute('POST /api/ops/proposals/:proposalId/withdraw', {
    operationId: 'opsWithdrawProposal',
    cli: 'proposals withdraw',
    summary: 'Withdraw a proposal of your own',
    action: 'proposal.withdraw',
    clock,
    params: schema.ProposalParams,
    body: schema.OptionalReason,
    responses: { 200: schema.Proposal },
    errors: ['INVALID_STATE'],
    run: async (context, { params, body }) => {
      const { id, proposedBy } = await lockPending(context, params.proposalId);
      if (proposedBy !== context.operatorId) {
        throw new AppError(
          'INVALID_STATE',
          `${proposedBy} proposed this: only they can withdraw it. You can reject it.`,
        );
      }
      const closed = await closeProposal(context, { id, status: 'WITHDRAWN', reason: body.reason });
      return { message: 'Proposal withdrawn', data: presentProposal(closed), audit: aboutProposal(closed) };
    },
  });
}
