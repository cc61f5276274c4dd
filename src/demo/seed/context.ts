import type { Trx } from '../../lib/db.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { RunInTransaction, UnitOfWork } from '../../outbox/record.ts';
import type { Provider } from '../../providers/provider.ts';

export type SeedDeps = { trx: Trx; scope: MerchantScope; baseUrl: string; pepper: string };

/** Where and when an item of the past happens. */
export type SeedContext = Omit<SeedDeps, 'trx'> & {
  tx: UnitOfWork;
  /** Runs nested transactions inside this one. */
  runInTransaction: RunInTransaction;
  /** The item's own clock, which its steps advance. */
  time: { now: Date };
};

export function advance({ time }: SeedContext, ms: number): void {
  time.now = new Date(time.now.getTime() + ms);
}

/** Operations warn about what is unusual; the past is. */
export const silentLogger = { warn: () => {}, error: () => {} };

/** A provider that responds by a script; any other call fails. */
export function scriptedProvider(channel: Provider['channel'], script: Partial<Provider>): Provider {
  return {
    channel,
    initiate: notUsed,
    query: notUsed,
    capabilities: { payoutTo: [] },
    payout: notUsed,
    queryPayout: notUsed,
    statement: notUsed,
    parseCallback: () => ({ verified: false, problem: 'the demo history has no callbacks' }),
    callbackResponse: { contentType: 'text/plain', body: '' },
    ...script,
  };
}

async function notUsed(): Promise<never> {
  throw new Error('The script of this provider has no such call.');
}
