import { rows, type Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';

/** Who acts: an operator (opr_…) or the sandbox, and with which key; none on a terminal. */
export type Actor = { operatorId: string; keyId?: string | undefined };

/** An operator who has approved, and everybody who may know the secret of the key it was done with. */
export type Approver = { operatorId: string; secretHolders: readonly string[] };

/**
 * The operator who acts, and everybody who may know the secret of the key in use. Two approvals are those of two people
 * only if no person is among the secret holders of both.
 */
export async function secretHoldersOf(db: Queryable, { operatorId, keyId = '' }: Actor): Promise<string[]> {
  const sql = 'SELECT secret_holders FROM operator_key WHERE id = :keyId';
  const [key] = await rows<{ secretHolders: string[] }>(db, sql, { keyId });
  return [...new Set([operatorId, ...(key?.secretHolders ?? [])])];
}

/** An approval: who requested it (key_… or opr_…; null: unknown), and who approves. */
export type Approval = Actor & {
  what: string;
  done?: 'requested' | 'linked' | 'submitted';
  requestedBy: string | null;
  /** The command of the approver. */
  verb?: 'approve' | 'verify' | 'resolve';
};

/**
 * Rejects the approval of the requester, of everybody who may know the requesting key, and of everybody whose own key
 * one of these may know. Returns the secret holders of the approval. Throws INVALID_STATE.
 */
export async function requireIndependentApprover(db: Queryable, approval: Approval): Promise<string[]> {
  const { what, done = 'requested', verb = 'approve', requestedBy, ...approver } = approval;
  const secretHolders = await secretHoldersOf(db, approver);
  if (requestedBy === null) return secretHolders;
  const sql = 'SELECT secret_holders FROM api_key WHERE id = :requestedBy';
  const [key] = await rows<{ secretHolders: string[] }>(db, sql, { requestedBy });
  const both = sharedHolder(secretHolders, key?.secretHolders ?? [requestedBy]);
  if (both === undefined) return secretHolders;
  const not = `you cannot ${verb} it`;
  if (both !== approver.operatorId) {
    const by = key ? `with the key ${requestedBy}, whose secret ${both} may know` : `by ${both}`;
    const why = `This ${what} was ${done} ${by}, and ${both} may know the secret of your key too`;
    throw new AppError('INVALID_STATE', `${why}: ${not}. ${otherApproverHint(verb, both)}`);
  }
  const by = key ? `with the key ${requestedBy}, whose secret you may know` : 'by you';
  const another = `Let another operator ${verb} it, with a key of their own`;
  throw new AppError('INVALID_STATE', `This ${what} was ${done} ${by}: ${not}. ${another}.`);
}

/** Two approvals must be of two people. Throws INVALID_STATE if one person may be behind an earlier one and this one. */
export function requireDistinctApprovers(
  approvals: readonly Approver[],
  approver: Approver,
  verb: 'approve' | 'resolve',
): void {
  for (const { operatorId, secretHolders } of approvals) {
    const both = sharedHolder(approver.secretHolders, [operatorId, ...secretHolders]);
    if (both === undefined) continue;
    const why =
      both === operatorId
        ? `${operatorId} has done so already, and may know the secret of your key`
        : both === approver.operatorId
          ? `${operatorId} has done so already, with a key whose secret you may know`
          : `${operatorId} has done so already, and ${both} may know the secret of that key and of yours`;
    throw new AppError('INVALID_STATE', `${why}: both count as one person. ${otherApproverHint(verb, both)}`);
  }
}

function sharedHolder(some: readonly string[], others: readonly string[]): string | undefined {
  return some.find((person) => others.includes(person));
}

function otherApproverHint(verb: string, person: string): string {
  return `Let an operator ${verb} it whose key ${person} cannot know: one that another admin has created.`;
}
