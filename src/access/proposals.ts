import { isDeepStrictEqual } from 'node:util';

import type { z } from 'zod';

import { DAY_MS } from '../lib/dates.ts';
import { first, insertRow, updateRow, type Queryable } from '../lib/db.ts';
import { found, invalidState } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { Page } from '../lib/pagination.ts';
import type { WorkItemSource } from '../outbox/work-items.ts';
import type { AuditContext, AuditedChange } from './audit.ts';
import type { Proposal as ProposalSchema } from './operator-schema.ts';

const PROPOSAL_DAYS = 7;

/** A change that one operator proposes and another confirms: a row of `proposal`. */
export type Proposal = Omit<z.input<typeof ProposalSchema>, 'proposalId' | 'expiresAt'> & {
  id: string;
  operationId: string;
  request: { params: unknown; body: unknown };
  expiresAt: Date;
};

type NewProposal = Pick<Proposal, 'operationId' | 'action' | 'request'> & {
  change: AuditedChange;
  reason?: string | null | undefined;
};

/** Stores a proposal. `change`: of the dry run. */
export async function createProposal(
  { tx, operatorId: proposedBy, at }: AuditContext,
  { operationId, action, request, change, reason = null }: NewProposal,
): Promise<Proposal> {
  const { resourceType, resourceId, merchantId = null, environment = null, before = null, after = null } = change;
  // What is created gets its id when it is confirmed.
  const resource = { resourceType, resourceId: before ? resourceId : null, merchantId, environment };
  const proposed = { operationId, action, request, ...resource, before, after, reason, proposedBy, proposedAt: at };
  const expiresAt = new Date(at.getTime() + PROPOSAL_DAYS * DAY_MS);
  return insertRow<Proposal>(tx.trx, 'proposal', { id: newId('prp', at.getTime()), ...proposed, expiresAt });
}

const STATUS = `CASE WHEN status = 'PENDING' AND expires_at <= CAST(:at AS timestamptz) THEN 'EXPIRED' ELSE status END`;

/** The same as {@link STATUS}. */
function withStatus(proposal: Proposal, at: Date): Proposal {
  const isExpired = proposal.status === 'PENDING' && proposal.expiresAt <= at;
  return isExpired ? { ...proposal, status: 'EXPIRED' } : proposal;
}

/** One proposal. Throws NOT_FOUND. */
export async function readProposal(db: Queryable, id: string, at: Date): Promise<Proposal> {
  return withStatus(found(await first<Proposal>(db, 'SELECT * FROM proposal WHERE id = :id', { id }), 'proposal'), at);
}

/** Locks a proposal that can be decided. Throws NOT_FOUND, INVALID_STATE. */
export async function lockPending({ tx, at }: AuditContext, id: string): Promise<Proposal> {
  const locked = await first<Proposal>(tx.trx, 'SELECT * FROM proposal WHERE id = :id FOR UPDATE', { id });
  const proposal = withStatus(found(locked, 'proposal'), at);
  if (proposal.status === 'PENDING') return proposal;
  const only = 'only one that is PENDING can be confirmed, rejected or withdrawn';
  throw invalidState(`This proposal is ${proposal.status}: ${only}.`);
}

/** Closes a locked proposal. */
export async function closeProposal(
  { tx, operatorId: decidedBy, at: decidedAt }: AuditContext,
  proposal: Proposal,
  { status, reason }: { status: 'CONFIRMED' | 'REJECTED' | 'WITHDRAWN'; reason?: string | undefined },
): Promise<Proposal> {
  const changes = { status, decidedBy, decidedAt, decisionReason: reason ?? null };
  await updateRow(tx.trx, { table: 'proposal', id: proposal.id }, changes);
  return { ...proposal, ...changes };
}

/** Throws INVALID_STATE where the change would now be of something else than the proposer saw; null: it changes nothing. */
export function ensureUnchanged({ before }: Proposal, change: AuditedChange | null): asserts change is AuditedChange {
  const asStored: unknown = JSON.parse(JSON.stringify(change?.before ?? null));
  if (change !== null && isDeepStrictEqual(asStored, before)) return;
  throw invalidState('It has changed since this was proposed. Reject the proposal, and propose it again.');
}

/** Proposals, newest first. */
export async function listProposals(
  db: Queryable,
  { statuses, at }: { statuses: readonly string[] | null; at: Date },
  page: Page,
) {
  const where = `CAST(:statuses AS text[]) IS NULL OR ${STATUS} = ANY (:statuses)`;
  const values = { statuses: statuses && [...statuses], at };
  const listed = { table: 'proposal', time: 'proposed_at', where: `(${where})`, values };
  const { rows, pagination } = await paginateNewest<Proposal>(db, listed, page);
  return { rows: rows.map((proposal) => withStatus(proposal, at)), pagination };
}

/** A proposal as operators see it. */
export function presentProposal({ id, ...proposal }: Proposal) {
  return { proposalId: id, ...proposal };
}

/** A proposal in the audit log. */
export function auditOfProposal({ id, merchantId, environment, ...proposal }: Proposal): AuditedChange {
  const { status, action, resourceType, resourceId } = proposal;
  const after = { status, action, resourceType, resourceId };
  return { resourceType: 'proposal', resourceId: id, merchantId, environment, after };
}

export const PROPOSAL_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['PROPOSAL'],
  sql: `SELECT 'PROPOSAL' AS kind, p.id, p.merchant_id, p.environment, NULL::bigint AS amount_santim,
               p.proposed_at AS since, 'Proposal to confirm: ' || p.action AS what,
               jsonb_build_object('action', p.action, 'proposedBy', p.proposed_by, 'before', p.before, 'after', p.after,
                                  'reason', p.reason, 'expiresAt', p.expires_at) AS detail, NULL AS workflow_id
        FROM proposal p WHERE p.status = 'PENDING' AND p.expires_at > CAST(:at AS timestamptz)`,
};
