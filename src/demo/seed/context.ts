import type { Knex } from '../../lib/db.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork, RunInTransaction } from '../../outbox/record.ts';

export type PastDeps = { trx: Knex.Transaction; scope: MerchantScope; baseUrl: string; pepper: string };

/** Where and when something of the past happens. */
export type Past = Omit<PastDeps, 'trx'> & {
  tx: UnitOfWork;
  /** Runs what would be a change of its own inside this one. */
  runInTransaction: RunInTransaction;
  /** The item's own clock, which it moves. */
  time: { now: Date };
};

/** What is odd about the past is no news. */
export const SILENT = { warn: () => {}, error: () => {} };

/** For what a provider of the past is not there for. */
export async function notUsed(): Promise<never> {
  throw new Error('the provider of the past is asked something that its script does not know');
}
