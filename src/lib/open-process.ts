import type { Knex } from './db.ts';
import type { OutboxMessage } from './outbox.ts';

/** An open row and what wakes its workflow, or starts one where Temporal has lost it. */
export type OpenProcess = {
  id: string;
  wake: OutboxMessage;
  /** Late although nothing but its workflow holds it up: woken even if the workflow runs. */
  overdue?: boolean;
};

/** Rows of one kind that must have a running workflow: `limit` of them after an id, in its order. */
export type FindOpen = (db: Knex, after: string, limit: number) => Promise<OpenProcess[]>;
