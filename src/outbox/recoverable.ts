import type { Database } from '../lib/db.ts';
import type { OutboxMessage } from './record.ts';

/** An open row and the message that signals its workflow, or starts one where Temporal has lost it. */
export type RecoverableWorkflow = {
  id: string;
  message: OutboxMessage;
  /** Late for no other reason than its workflow, which is signalled even if it runs. */
  overdue?: boolean;
};

/** `limit` open rows after an id, in order of ids; with `onlyPastDue` only those with something past due. */
export type OpenPage = { after: string; limit: number; onlyPastDue: boolean };

/** Finds the rows of one kind that must have a running workflow. */
export type FindRecoverable = (db: Database, page: OpenPage) => Promise<RecoverableWorkflow[]>;
