import { requireRole } from '../http/auth.ts';
import { writeRoute, type OperatorCaller, type Route } from '../http/route.ts';
import type { Database } from '../lib/db.ts';
import { invalidState } from '../lib/errors.ts';
import type { AuditContext } from './audit.ts';
import { withNames } from './names.ts';
import {
  ANY_OPERATOR,
  auditContextOf,
  operatorListRoute,
  operatorReadRoute,
  operatorRoute,
  type ProposableRoute,
} from './operator-route.ts';
import * as schema from './operator-schema.ts';
import { PERMISSIONS } from './permissions.ts';
import {
  auditOfProposal,
  closeProposal,
  listProposals,
  lockPending,
  presentProposal,
  readProposal,
} from './proposals.ts';

/** `routes`: those whose changes are proposed. */
type Deps = { db: Database; routes: readonly Route[] };

const PATH = '/api/ops/proposals';
const ONE = { params: schema.ProposalParams, responses: { 200: schema.Proposal } };

/** Proposals, and the decisions about them. */
export function proposalRoutes(deps: Deps): Route[] {
  return [...queryRoutes(deps), ...decisionRoutes(deps)];
}

function queryRoutes({ db }: Deps): Route[] {
  return [
    operatorListRoute(`GET ${PATH}`, {
      operationId: 'opsListProposals',
      cli: { name: 'proposals list', columns: 'proposedAt proposalId action resourceId status reason' },
      summary: 'List proposals, newest first',
      query: schema.ProposalListQuery,
      item: schema.NamedProposal,
      name: 'Proposals',
      list: ({ status: statuses = null }, page, at) => listProposals(db, { statuses, at }, page),
      present: presentProposal,
      names: { db, fields: schema.PROPOSAL_NAMES },
    }),
    operatorReadRoute(`GET ${PATH}/:proposalId`, {
      params: schema.ProposalParams,
      responses: { 200: schema.NamedProposal },
      operationId: 'opsGetProposal',
      cli: 'proposals get',
      summary: 'Get a proposal, with the fields that it changes before and after',
      handle: async ({ params, at }) => {
        const proposal = presentProposal(await readProposal(db, params.proposalId, at));
        const [data] = await withNames(db, [proposal], schema.PROPOSAL_NAMES);
        return { message: 'Proposal retrieved', data };
      },
    }),
  ];
}

function decisionRoutes({ routes }: Deps): Route[] {
  const proposable = new Map(
    routes.flatMap((route) => ('confirm' in route ? [[route.operationId, route as ProposableRoute]] : [])),
  );
  /** Locks a pending proposal for another operator who has the permission of its action. */
  const lockFor = async (context: AuditContext, caller: OperatorCaller, { id, verb }: { id: string; verb: string }) => {
    const proposal = await lockPending(context, id);
    const route = proposable.get(proposal.operationId);
    if (!route) throw new Error(`${proposal.operationId} confirms no proposals`);
    requireRole(caller, PERMISSIONS[route.permission].roles);
    if (proposal.proposedBy !== caller.operatorId) return { proposal, route };
    throw invalidState(`You proposed this: another operator has to ${verb} it. You can withdraw it.`);
  };
  return [
    writeRoute(`POST ${PATH}/:proposalId/confirm`, {
      ...ONE,
      operationId: 'opsConfirmProposal',
      cli: { name: 'proposals confirm', confirm: true },
      tag: 'Operators',
      summary: 'Confirm a proposal, which makes its change; the proposer cannot',
      description: 'Needs the permission of its action. What it changes must still be as in before.',
      auth: ANY_OPERATOR,
      stepUp: 'always',
      body: schema.OptionalReason,
      errors: ['INVALID_STATE', 'DUPLICATE_REFERENCE'],
      handle: async (input) => {
        const context = auditContextOf(input);
        const { proposalId: id } = input.params;
        const { proposal, route } = await lockFor(context, input.caller, { id, verb: 'confirm' });
        const message = await route.confirm(context, proposal, input);
        const closed = await closeProposal(context, proposal, { status: 'CONFIRMED', ...input.body });
        return { message, data: presentProposal(closed) };
      },
    }),
    operatorRoute(`POST ${PATH}/:proposalId/reject`, {
      ...ONE,
      operationId: 'opsRejectProposal',
      cli: 'proposals reject',
      summary: 'Reject a proposal of another operator',
      description: 'Needs the permission of its action.',
      action: 'proposal.reject',
      body: schema.Reason,
      errors: ['INVALID_STATE'],
      run: async (context, { caller, params, body }) => {
        const { proposal } = await lockFor(context, caller, { id: params.proposalId, verb: 'reject' });
        const closed = await closeProposal(context, proposal, { status: 'REJECTED', ...body });
        return { message: 'Proposal rejected', data: presentProposal(closed), audit: auditOfProposal(closed) };
      },
    }),
    operatorRoute(`POST ${PATH}/:proposalId/withdraw`, {
      ...ONE,
      operationId: 'opsWithdrawProposal',
      cli: 'proposals withdraw',
      summary: 'Withdraw a proposal of your own',
      action: 'proposal.withdraw',
      body: schema.OptionalReason,
      errors: ['INVALID_STATE'],
      run: async (context, { params, body }) => {
        const proposal = await lockPending(context, params.proposalId);
        if (proposal.proposedBy !== context.operatorId) {
          throw invalidState(`${proposal.proposedBy} proposed this: only they can withdraw it. You can reject it.`);
        }
        const closed = await closeProposal(context, proposal, { status: 'WITHDRAWN', ...body });
        return { message: 'Proposal withdrawn', data: presentProposal(closed), audit: auditOfProposal(closed) };
      },
    }),
  ];
}
