import { rows, type Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { Environment } from '../lib/scope.ts';

/**
 * Who acts: an operator (opr_…) or the sandbox. `notices`: sentences that are added to the message of the response.
 */
export type Actor = { operatorId: string; notices?: string[] };

/** A decision about a prepared change, and who prepared it (key_…, usr_… or opr_…; null: unknown). */
type Check = {
  environment: Environment;
  what: string;
  preparedBy: string | null;
  done?: 'requested' | 'linked' | 'submitted' | 'approved' | 'entered';
  verb?: 'approve' | 'verify' | 'resolve' | 'send' | 'activate';
};

/** The person behind a key is who created it, or invited the merchant to it. */
const PREPARED = `
  SELECT k.id IS NOT NULL AS is_key, person.id AS person_id, EXISTS (
    SELECT FROM user_account u JOIN operator o ON lower(o.email) = lower(u.email)
    WHERE u.id = person.id AND o.id = :operatorId
  ) AS has_same_email
  FROM (SELECT CAST(:preparedBy AS text) AS id) prepared
  LEFT JOIN api_key k ON k.id = prepared.id
  CROSS JOIN LATERAL (SELECT CASE WHEN k.id IS NULL THEN prepared.id ELSE k.created_by END AS id) person`;

/**
 * Throws INVALID_STATE in live where the operator has prepared the thing to decide, also as a user of the merchant with the
 * same e-mail address, or is the person behind the key that did. In the sandbox one person may do both, and a notice points
 * that out.
 */
export async function requireAnotherPerson(
  db: Queryable,
  { operatorId, notices }: Actor,
  { environment, what, preparedBy, done = 'requested', verb = 'approve' }: Check,
): Promise<void> {
  if (preparedBy === null) return;
  type Prepared = { isKey: boolean; personId: string | null; hasSameEmail: boolean };
  const [prepared] = await rows<Prepared>(db, PREPARED, { preparedBy, operatorId });
  if (!prepared || (prepared.personId !== operatorId && !prepared.hasSameEmail)) return;
  const another = `another operator has to ${verb} it`;
  if (environment === 'sandbox') {
    notices?.push(`In live ${another}.`);
    return;
  }
  const how = prepared.hasSameEmail ? 'which you created' : 'to which you invited the merchant';
  const by = prepared.isKey ? `with the key ${preparedBy}, ${how}` : 'by you';
  throw new AppError('INVALID_STATE', `This ${what} was ${done} ${by}: you cannot ${verb} it, ${another}.`);
}
