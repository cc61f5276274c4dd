import { rows, type Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';

/** Who says something: an operator (opr_…) or the sandbox, and with which key; on a terminal with none. */
export type Actor = { operatorId: string; keyId?: string | undefined };

/** Who has said something, and whose word it may be. */
export type Approver = { operatorId: string; secretHolders: readonly string[] };

/**
 * Whose word it may be: who speaks, and everybody who may know the secret of the key it is said with. Two words are two
 * people's only where nobody is among the eyes of both.
 */
export async function secretHoldersOf(db: Queryable, { operatorId, keyId = '' }: Actor): Promise<string[]> {
  const sql = 'SELECT secret_holders FROM operator_key WHERE id = :keyId';
  const [key] = await rows<{ secretHolders: string[] }>(db, sql, { keyId });
  return [...new Set([operatorId, ...(key?.secretHolders ?? [])])];
}

/** What is to be allowed: who has asked for it (key_… or opr_…; null: nobody knows), and who says yes. */
export type Approval = Actor & {
  what: string;
  done?: 'asked for' | 'linked' | 'handed in';
  requestedBy: string | null;
  /** What the speaker is about to do. */
  verb?: 'approve' | 'verify' | 'resolve';
};

/**
 * Who asks may not approve: neither an operator who has asked, nor one who may know the key that did; nor anybody whose
 * own key such a one may know. Returns whose word the yes may be. Throws INVALID_STATE.
 */
export async function requireIndependentApprover(db: Queryable, approval: Approval): Promise<string[]> {
  const { what, done = 'asked for', verb = 'approve', requestedBy, ...speaker } = approval;
  const secretHolders = await secretHoldersOf(db, speaker);
  if (requestedBy === null) return secretHolders;
  const sql = 'SELECT secret_holders FROM api_key WHERE id = :requestedBy';
  const [key] = await rows<{ secretHolders: string[] }>(db, sql, { requestedBy });
  const both = sharedHolder(secretHolders, key?.secretHolders ?? [requestedBy]);
  if (both === undefined) return secretHolders;
  const not = `you may not ${verb} it`;
  if (both !== speaker.operatorId) {
    const by = key ? `with the key ${requestedBy}, whose secret ${both} may know` : `by ${both}`;
    const why = `This ${what} was ${done} ${by}, and ${both} may know the secret of your key too`;
    throw new AppError('INVALID_STATE', `${why}: ${not}. ${otherApproverHint(verb, both)}`);
  }
  const by = key ? `with the key ${requestedBy}, whose secret you may know` : 'by you';
  const another = `Let another operator ${verb} it, with a key of their own, or on the terminal with --operator opr_…`;
  throw new AppError('INVALID_STATE', `This ${what} was ${done} ${by}: ${not}. ${another}.`);
}

/** Two words must be two people's. Throws INVALID_STATE where one person may have said one of these, and says this one. */
export function requireDistinctApprovers(
  approvals: readonly Approver[],
  voice: Approver,
  verb: 'approve' | 'resolve',
): void {
  for (const { operatorId, secretHolders } of approvals) {
    const both = sharedHolder(voice.secretHolders, [operatorId, ...secretHolders]);
    if (both === undefined) continue;
    const why =
      both === operatorId
        ? `${operatorId} has said so already, and may know the secret of your key`
        : both === voice.operatorId
          ? `${operatorId} has said so already, with a key whose secret you may know`
          : `${operatorId} has said so already, and ${both} may know the secret of that key and of yours`;
    throw new AppError('INVALID_STATE', `${why}: that is one person's word. ${otherApproverHint(verb, both)}`);
  }
}

function sharedHolder(some: readonly string[], others: readonly string[]): string | undefined {
  return some.find((person) => others.includes(person));
}

function otherApproverHint(verb: string, person: string): string {
  return `Let an operator ${verb} it whose key ${person} cannot know: one that another admin has made.`;
}
