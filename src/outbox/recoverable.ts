import type { Knex } from '../lib/db.ts';
import type { OutboxMessage } from './record.ts';

/** An open row and what wakes its workflow, or starts one where Temporal has lost it. */
export type RecoverableWorkflow = {
  id: string;
  message: OutboxMessage;
  /** Late although nothing but its workflow holds it up: woken even if the workflow runs. */
  overdue?: boolean;
};

/** `limit` rows after an id, in its order; all that are open, or only those of which something is past due. */
export type OpenPage = { after: string; limit: number; onlyPastDue: boolean };

/** Rows of one kind that must have a running workflow. */
export type FindRecoverable = (db: Knex, page: OpenPage) => Promise<RecoverableWorkflow[]>;
