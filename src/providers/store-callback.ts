import { rows, type Queryable } from '../lib/db.ts';
import type { Channel } from './provider.ts';

/** A callback byte for byte, and what its signature said of it. */
export type CallbackRow = ({ attemptId: string } | { withdrawalId: string }) & {
  channel: Channel;
  body: Buffer;
  verified: boolean;
  /** Why it was not verified. */
  problem: string | null;
};

/** Keeps what a provider sent, before anything is believed. */
export async function storeCallback(db: Queryable, row: CallbackRow): Promise<void> {
  const owner = 'attemptId' in row ? 'attempt' : 'withdrawal';
  await rows(
    db,
    `INSERT INTO provider_callback (${owner}_id, channel, body, verified, problem)
     VALUES (:${owner}Id, :channel, :body, :verified, :problem)`,
    row,
  );
}
