import type pg from 'pg';

import { isLiveChannel, MANIFESTS, type Channel } from './channel.ts';

/** The largest payouts that the platform makes in a day, as a multiple of the largest one. */
const DAILY_PAYOUTS = 10n;

/**
 * Inserts the channels that the database lacks, with the limits of their manifests; those that it has stay as operators have
 * set them. Returns the new ones. Of `meskot migrate`, as the owner of the database.
 */
export async function insertMissingChannels(client: Pick<pg.Client, 'query'>): Promise<Channel[]> {
  const added: Channel[] = [];
  for (const { id, name, transactionThrough, position, limits } of MANIFESTS) {
    const { payIn, payOut } = limits;
    const { rowCount } = await client.query(
      `WITH added AS (
         INSERT INTO channel (id, transaction_through, display_name, platform_state, position)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING RETURNING id)
       INSERT INTO limit_rule (id, channel, direction, min_santim, max_santim, daily_santim, valid_from, version)
       SELECT 'lim_' || direction || '_' || added.id, added.id, direction, min_santim, max_santim, daily_santim,
              timestamptz '2020-01-01T00:00:00Z', 1
       FROM added, (VALUES ('PAY_IN', CAST($6 AS bigint), CAST($7 AS bigint), NULL),
                           ('PAY_OUT', $8, $9, CAST($10 AS bigint)))
                   AS limits (direction, min_santim, max_santim, daily_santim)`,
      [
        id,
        transactionThrough,
        name,
        isLiveChannel(id) ? 'AVAILABLE' : 'COMING_SOON',
        position,
        payIn.minSantim,
        payIn.maxSantim,
        payOut.minSantim,
        payOut.maxSantim,
        payOut.maxSantim * DAILY_PAYOUTS,
      ],
    );
    if (rowCount) added.push(id);
  }
  return added;
}
