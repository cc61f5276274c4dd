import type pg from 'pg';

import { insertMissingFees } from '../ledger/insert-missing-fees.ts';
import { insertMissingChannels } from '../merchants/channels/insert-missing.ts';

/** Inserts the channels of manifests that the database lacks, with limits and fees. Returns what was inserted. */
export async function insertChannels(client: Pick<pg.Client, 'query'>): Promise<string[]> {
  const added = await insertMissingChannels(client);
  if (added.length > 0) await insertMissingFees(client);
  return added.map((channel) => `channel ${channel}`);
}
