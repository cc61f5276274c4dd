import type { Logger } from '../lib/log.ts';
import type { RunInTransaction, UnitOfWork } from './record.ts';

type Due<Row> = {
  /** The next row that is due, locked, but for those with these ids; undefined: none. */
  next: (tx: UnitOfWork, failed: readonly string[]) => Promise<Row | undefined>;
  work: (tx: UnitOfWork, row: Row) => Promise<unknown>;
  stopping?: AbortSignal | undefined;
};

/**
 * Works on the rows that are due, one transaction each, until none is left, for a periodic job. A row whose work fails is
 * logged as an error and steps aside until the next run, so that it does not hold up the others. Returns how many were
 * done. Throws what `next` throws.
 */
export async function workOff<Row extends { id: string }>(
  { runInTransaction, log }: { runInTransaction: RunInTransaction; log: Logger },
  { next, work, stopping }: Due<Row>,
): Promise<number> {
  const failed: string[] = [];
  for (let done = 0; ; done += 1) {
    if (stopping?.aborted) return done;
    let taken: string | null = null;
    const step = async (tx: UnitOfWork): Promise<void> => {
      const row = await next(tx, failed);
      taken = row?.id ?? null;
      if (row) await work(tx, row);
    };
    try {
      await runInTransaction(step);
      if (taken === null) return done;
    } catch (error) {
      if (taken === null) throw error;
      failed.push(taken);
      done -= 1;
      log.error({ err: error, id: taken }, 'A row that is due failed: it is tried again in the next run');
    }
  }
}
