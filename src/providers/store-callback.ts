import { rows, type Queryable } from '../lib/db.ts';
import type { Channel } from './provider.ts';

/** A callback byte for byte, and what its signature said of it. */
export type CallbackRow = {
  attemptId: string;
  channel: Channel;
  body: Buffer;
  verified: boolean;
  /** Why it was not verified. */
  problem: string | null;
};

/** Keeps what a provider sent, before anything is believed. */
export async function storeCallback(db: Queryable, row: CallbackRow): Promise<void> {
  await rows(
    db,
    `INSERT INTO provider_callback (attempt_id, channel, body, verified, problem)
     VALUES (:attemptId, :channel, :body, :verified, :problem)`,
    row,
  );
}
