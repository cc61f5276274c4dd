import { isDeepStrictEqual } from 'node:util';

import { DAY_MS, isoOrNull } from '../lib/dates.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { AppError, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { Page } from '../lib/pagination.ts';
import type { Environment } from '../lib/scope.ts';
import type { WorkItemSource } from '../outbox/work-items.ts';
import type { AuditContext, AuditedChange, ResourceType } from './audit.ts';
import type { Action } from './permissions.ts';

/** How long a proposal can be confirmed. */
export const PROPOSAL_DAYS = 7;

export const PROPOSAL_STATUSES = ['PENDING', 'CONFIRMED', 'REJECTED', 'WITHDRAWN', 'EXPIRED'] as const;
export type ProposalStatus = (typeof PROPOSAL_STATUSES)[number];

type Fields = Record<string, unknown>;

/** A change that one operator proposes and another confirms (migrations/0003). */
export type Proposal = {
  id: string;
  operationId: string;
  action: Action;
  resourceType: ResourceType;
  /** null: created by the confirmation. */
  resourceId: string | null;
  merchantId: string | null;
  environment: Environment | null;
  request: { params: unknown; body: unknown };
  before: Fields | null;
  after: Fields | null;
  reason: string | null;
  proposedBy: string;
  proposedAt: Date;
  expiresAt: Date;
  status: ProposalStatus;
  decidedBy: string | null;
  decidedAt: Date | null;
  decisionReason: string | null;
};

const COLUMNS = `id, operation_id, action, resource_type, resource_id, merchant_id, environment, request, before, after, reason,
  proposed_by, proposed_at, expires_at, decided_by, decided_at, decision_reason,
  CASE WHEN status = 'PENDING' AND expires_at <= CAST(:at AS timestamptz) THEN 'EXPIRED' ELSE status END AS status`;

type NewProposal = Pick<Proposal, 'operationId' | 'action' | 'request'> & {
  change: AuditedChange;
  reason?: string | undefined;
};

/** Stores a proposal. `change`: of the dry run. */
export async function createProposal(
  { tx, operatorId: proposedBy, at }: AuditContext,
  { operationId, action, request, change, reason }: NewProposal,
): Promise<Proposal> {
  const { resourceType, resourceId, merchantId = null, environment = null, before = null, after = null } = change;
  const [proposal] = await rows<Proposal>(
    tx.trx,
    `INSERT INTO proposal (id, operation_id, action, resource_type, resource_id, merchant_id, environment, request,
                           before, after, reason, proposed_by, proposed_at, expires_at)
     VALUES (:id, :operationId, :action, :resourceType, :resourceId, :merchantId, :environment, CAST(:request AS jsonb),
             CAST(:before AS jsonb), CAST(:after AS jsonb), :reason, :proposedBy, :at, :expiresAt)
     RETURNING ${COLUMNS}`,
    {
      id: newId('prp', at.getTime()),
      operationId,
      action,
      resourceType,
      // What is created gets its id when it is confirmed.
      resourceId: before === null ? null : resourceId,
      merchantId,
      environment,
      request: JSON.stringify(request),
      before: before && JSON.stringify(before),
      after: after && JSON.stringify(after),
      reason: reason ?? null,
      proposedBy,
      at,
      expiresAt: new Date(at.getTime() + PROPOSAL_DAYS * DAY_MS),
    },
  );
  if (!proposal) throw new Error('creating a proposal returned no row');
  return proposal;
}

/** One proposal. Throws NOT_FOUND. */
export async function readProposal(db: Queryable, id: string, at: Date): Promise<Proposal> {
  const [proposal] = await rows<Proposal>(db, `SELECT ${COLUMNS} FROM proposal WHERE id = :id`, { id, at });
  if (!proposal) throw notFound('proposal');
  return proposal;
}

/** Locks a proposal that can be decided. Throws NOT_FOUND, INVALID_STATE. */
export async function lockPending({ tx, at }: AuditContext, id: string): Promise<Proposal> {
  await rows(tx.trx, 'SELECT 1 FROM proposal WHERE id = :id FOR UPDATE', { id });
  const proposal = await readProposal(tx.trx, id, at);
  if (proposal.status === 'PENDING') return proposal;
  const only = 'only one that is PENDING can be confirmed, rejected or withdrawn';
  throw new AppError('INVALID_STATE', `This proposal is ${proposal.status}: ${only}.`);
}

/** Closes a locked proposal. */
export async function closeProposal(
  { tx, operatorId, at }: AuditContext,
  {
    id,
    status,
    reason,
  }: { id: string; status: Exclude<ProposalStatus, 'PENDING' | 'EXPIRED'>; reason?: string | undefined },
): Promise<Proposal> {
  const sql = `UPDATE proposal SET status = :status, decided_by = :operatorId, decided_at = :at, decision_reason = :reason
               WHERE id = :id RETURNING ${COLUMNS}`;
  const [proposal] = await rows<Proposal>(tx.trx, sql, { id, status, operatorId, at, reason: reason ?? null });
  if (!proposal) throw new Error(`proposal ${id} is gone`);
  return proposal;
}

/** Throws INVALID_STATE where the change would now be of something else than the proposer saw; null: it changes nothing. */
export function ensureUnchanged({ before }: Proposal, change: AuditedChange | null): asserts change is AuditedChange {
  const asStored: unknown = JSON.parse(JSON.stringify(change?.before ?? null));
  if (change !== null && isDeepStrictEqual(asStored, before)) return;
  throw new AppError(
    'INVALID_STATE',
    'It has changed since this was proposed. Reject the proposal, and propose it again.',
  );
}

/** Proposals, newest first. */
export async function listProposals(
  db: Queryable,
  { statuses, at }: { statuses: readonly string[] | null; at: Date },
  page: Page,
) {
  return paginateNewest<Proposal>(
    db,
    {
      columns: '*',
      table: `(SELECT ${COLUMNS} FROM proposal) proposals`,
      time: 'proposed_at',
      where: 'CAST(:statuses AS text[]) IS NULL OR status = ANY (:statuses)',
      values: { statuses: statuses ? [...statuses] : null, at },
    },
    page,
  );
}

/** A proposal as operators see it. */
export function presentProposal({ id, proposedAt, expiresAt, decidedAt, ...row }: Proposal) {
  return {
    proposalId: id,
    ...row,
    proposedAt: proposedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    decidedAt: isoOrNull(decidedAt),
  };
}

/** A proposal in the audit log. */
export function aboutProposal({
  id,
  merchantId,
  environment,
  action,
  status,
  resourceType,
  resourceId,
}: Proposal): AuditedChange {
  return {
    resourceType: 'proposal',
    resourceId: id,
    ...(merchantId !== null && { merchantId }),
    ...(environment !== null && { environment }),
    after: { status, action, resourceType, resourceId },
  };
}

/** Proposals for another operator to confirm. */
export const PROPOSAL_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['PROPOSAL'],
  sql: `SELECT 'PROPOSAL' AS kind, p.id, p.merchant_id, p.environment, NULL::bigint AS amount_santim,
               p.proposed_at AS since, 'Proposal to confirm: ' || p.action AS what,
               jsonb_build_object('action', p.action, 'proposedBy', p.proposed_by, 'before', p.before, 'after', p.after,
                                  'reason', p.reason, 'expiresAt', p.expires_at) AS detail, NULL AS workflow_id
        FROM proposal p WHERE p.status = 'PENDING' AND p.expires_at > CAST(:at AS timestamptz)`,
};
