import { rows, type Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';

/** What is to be approved: who has asked for it (key_… or opr_…), and who says yes. */
export type Approval = { what: string; done?: 'asked for' | 'linked'; requestedBy: string; operatorId: string };

/**
 * Who asks may not approve: neither an operator who has asked, nor one who has made the key that did, and so has seen
 * its secret. Throws INVALID_STATE.
 */
export async function requireOtherEyes(db: Queryable, approval: Approval): Promise<void> {
  const { what, done = 'asked for', requestedBy, operatorId } = approval;
  if (requestedBy === operatorId) {
    throw new AppError('INVALID_STATE', `Who ${done} a ${what} may not approve it. Let another operator look.`);
  }
  const sql = 'SELECT 1 FROM api_key WHERE id = :requestedBy AND created_by = :operatorId';
  if ((await rows(db, sql, { requestedBy, operatorId })).length === 0) return;
  const made = `This ${what} was ${done} with the key ${requestedBy}, which you have made`;
  throw new AppError('INVALID_STATE', `${made}: you may not approve it. Let another operator look.`);
}
