import { rows, type Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { Environment } from '../lib/scope.ts';

/**
 * Who acts: an operator (opr_…) or the sandbox. `notices`: sentences that are added to the message of the response.
 */
export type Actor = { operatorId: string; notices?: string[] };

/** A decision about a prepared change, and who prepared it (key_… or opr_…; null: unknown). */
type Check = {
  environment: Environment;
  what: string;
  preparedBy: string | null;
  done?: 'requested' | 'linked' | 'submitted' | 'approved' | 'entered';
  verb?: 'approve' | 'verify' | 'resolve' | 'send' | 'activate';
};

/**
 * Throws INVALID_STATE in live where the operator has prepared the thing to decide, or has invited the merchant to create
 * the key that did. In the sandbox one operator may do both, and a notice points that out.
 */
export async function requireAnotherPerson(
  db: Queryable,
  { operatorId, notices }: Actor,
  { environment, what, preparedBy, done = 'requested', verb = 'approve' }: Check,
): Promise<void> {
  if (preparedBy === null) return;
  const sql = 'SELECT created_by FROM api_key WHERE id = :preparedBy';
  const [key] = await rows<{ createdBy: string | null }>(db, sql, { preparedBy });
  if ((key ? key.createdBy : preparedBy) !== operatorId) return;
  const another = `another operator has to ${verb} it`;
  if (environment === 'sandbox') {
    notices?.push(`In live ${another}.`);
    return;
  }
  const by = key ? `with the key ${preparedBy}, to which you invited the merchant` : 'by you';
  throw new AppError('INVALID_STATE', `This ${what} was ${done} ${by}: you cannot ${verb} it, ${another}.`);
}
