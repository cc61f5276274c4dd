import { createCache } from '../../lib/cache.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KeyRing } from '../../lib/crypto.ts';
import { endOfAddisDay, startOfAddisDay } from '../../lib/dates.ts';
import type { Queryable } from '../../lib/db.ts';
import type { LiveChannel } from '../settings.ts';
import {
  listAccounts,
  listCredentials,
  type CredentialSet,
  type MerchantAccount,
  type CredentialScope,
} from './queries.ts';
import { openCredentials, type AccountCredentials } from './values.ts';

/** Less than the time after which a decision applies. */
const CACHE_MS = 4_000;
const CACHE_ENTRIES_MAX = 10_000;

export type CredentialStore = {
  /** All sets of a channel of a merchant, newest first, at most 4 s old. */
  setsOf: (scope: CredentialScope) => Promise<readonly CredentialSet[]>;
  /** Every merchant's accounts on a channel that were in effect at any time of a day. */
  accountsOf: (channel: LiveChannel, day: string) => Promise<MerchantAccount[]>;
  open: (set: CredentialSet) => AccountCredentials;
};

/** Reads credentials with at most one query per channel of a merchant and 4 s. */
export function createCredentialStore({
  db,
  keyRing,
  clock,
}: {
  db: Queryable;
  keyRing: KeyRing;
  clock: Clock;
}): CredentialStore {
  const load = createCache(
    (key) => {
      const [merchantId, channel] = key.split('/') as [string, LiveChannel];
      return listCredentials(db, { merchantId, channel });
    },
    { ttlMs: CACHE_MS, entriesMax: CACHE_ENTRIES_MAX },
  );
  return {
    setsOf: async ({ merchantId, channel }) => (await load(`${merchantId}/${channel}`, clock().getTime())) ?? [],
    accountsOf: (channel, day) => listAccounts(db, { channel, at: endOfAddisDay(day), since: startOfAddisDay(day) }),
    open: (set) => openCredentials(keyRing, set),
  };
}
