import type { Knex } from '../lib/db.ts';
import type { Change, RunChange } from '../lib/outbox.ts';
import type { Owner } from '../lib/owner.ts';

export type PastDeps = { trx: Knex.Transaction; owner: Owner; baseUrl: string; pepper: string };

/** Where and when something of the past happens. */
export type Past = Omit<PastDeps, 'trx'> & {
  change: Change;
  /** Runs what would be a change of its own inside this one. */
  runChange: RunChange;
  /** The item's own clock, which it moves. */
  time: { now: Date };
};

/** What is odd about the past is no news. */
export const SILENT = { warn: () => {}, error: () => {} };

/** For what a provider of the past is not there for. */
export async function neverAsked(): Promise<never> {
  throw new Error('the provider of the past is asked something that its script does not know');
}
