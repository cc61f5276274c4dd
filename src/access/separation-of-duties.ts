import { rows, type Queryable } from '../lib/db.ts';
import { invalidState } from '../lib/errors.ts';
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
  done?: 'requested' | 'confirmed' | 'linked' | 'submitted' | 'approved' | 'entered';
  verb?: 'approve' | 'verify' | 'resolve' | 'send' | 'activate';
};

/**
 * The person behind a key is who created it, or invited the merchant to it. One e-mail address is one person. An operator
 * may be behind a user of a merchant whom they invited.
 */
const PREPARED = `
  WITH people AS (SELECT id, email FROM user_account UNION ALL SELECT id, email FROM operator)
  SELECT prepared.id AS prepared_by, k.id IS NOT NULL AS is_key, person.id AS person_id, EXISTS (
    SELECT FROM membership m JOIN operator o ON o.id = m.invited_by WHERE m.user_id = person.id AND o.id = :deciderId
  ) AS is_invited, EXISTS (
    SELECT FROM people a JOIN people b ON lower(a.email) = lower(b.email) WHERE a.id = person.id AND b.id = :deciderId
  ) AS is_same
  FROM unnest(CAST(:preparedBy AS text[])) AS prepared (id)
  LEFT JOIN api_key k ON k.id = prepared.id
  CROSS JOIN LATERAL (SELECT CASE WHEN k.id IS NULL THEN prepared.id ELSE k.created_by END AS id) person`;

type Prepared = {
  preparedBy: string;
  isKey: boolean;
  personId: string | null;
  isInvited: boolean;
  isSame: boolean;
};

/** Of those who prepared something, who decides about it now, or was invited by them. */
async function samePeople(db: Queryable, deciderId: string, preparedBy: readonly string[]): Promise<Prepared[]> {
  const all = await rows<Prepared>(db, PREPARED, { preparedBy, deciderId });
  return all.filter(({ personId, isSame, isInvited }) => personId === deciderId || isSame || isInvited);
}

/** Of these requesters (key_… or usr_…), those that count as this user of the merchant, who confirms none of their requests in live. */
export async function findOwnRequesters(db: Queryable, userId: string, requestedBy: readonly string[]) {
  return (await samePeople(db, userId, requestedBy)).map(({ preparedBy }) => preparedBy);
}

/**
 * Throws INVALID_STATE in live where a merchant's user has requested the withdrawal or refund to confirm, also with a key of theirs or
 * as an operator with the same e-mail address. In the sandbox one person may do both, and a notice points that out.
 */
export async function requireAnotherMember(
  db: Queryable,
  { userId, notices }: { userId: string; notices: string[] },
  { environment, requestedBy, what }: { environment: Environment; requestedBy: string; what: 'withdrawal' | 'refund' },
): Promise<void> {
  const [prepared] = await samePeople(db, userId, [requestedBy]);
  if (!prepared) return;
  if (environment === 'sandbox') notices.push('In live another person has to confirm it.');
  else {
    const by = prepared.isKey ? `with the key ${requestedBy}, which you created` : 'by you';
    throw invalidState(`This ${what} was requested ${by}: another person has to confirm it.`);
  }
}

/**
 * Throws INVALID_STATE in live where the operator has prepared the thing to decide, also as a user of the merchant with the
 * same e-mail address, is the person behind the key that did, or has invited the user who did. In the sandbox one person
 * may do both, and a notice points that out.
 */
export async function requireAnotherPerson(
  db: Queryable,
  { operatorId, notices }: Actor,
  { environment, what, preparedBy, done = 'requested', verb = 'approve' }: Check,
): Promise<void> {
  if (preparedBy === null) return;
  const [prepared] = await samePeople(db, operatorId, [preparedBy]);
  if (!prepared) return;
  const another = `another operator has to ${verb} it`;
  if (environment === 'sandbox') {
    const notice = `In live ${another}.`;
    if (!notices?.includes(notice)) notices?.push(notice);
    return;
  }
  const { isKey, isInvited, personId } = prepared;
  const how = personId === operatorId ? 'to which you invited the merchant' : 'which you created';
  const who = isInvited ? `by ${personId}, whom you invited` : 'by you';
  const by = isKey && !isInvited ? `with the key ${preparedBy}, ${how}` : who;
  throw invalidState(`This ${what} was ${done} ${by}: you cannot ${verb} it, ${another}.`);
}
