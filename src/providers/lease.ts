import { setTimeout as sleep } from 'node:timers/promises';

import type { Clock } from '../lib/clock.ts';
import { rows, type Queryable } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import type { FindProvider } from './provider.ts';

export type CheckDeps = {
  db: Queryable;
  runInTransaction: RunInTransaction;
  findProvider: FindProvider;
  clock: Clock;
  /** Where providers reach us, without a slash at the end. */
  baseUrl: string;
  log: Pick<Logger, 'warn' | 'error'>;
};

/**
 * Longer than two provider calls may take (a submission, and the query after its rejection); afterwards another process may
 * check the order of a dead one.
 */
const LEASE_MS = 10_000;
/** How long the result of another process's check is waited for. */
const OTHER_CHECK_WAIT_MS = 2_000;
const OTHER_CHECK_POLL_MS = 100;

/** An order that one check may send or query until then. */
export type Leased = { id: string; leaseUntil: Date };

/** `leased`: this check's. `busy`: another check has the lease, and what is known until it ends. Otherwise nothing is to do. */
export type Claim<Row extends Leased, Result> = { leased: Row } | { busy: Result } | { result: Result };

/**
 * Checks an order at its provider while no other process does: claims it, or waits for the result of the one that has the
 * lease. `claim` is repeated; `check` ends the lease when it saves the outcome. If it throws, the lease ends at once.
 */
export async function checkUnderLease<Row extends Leased, Result>(
  db: Queryable,
  {
    table,
    claim,
    check,
  }: {
    table: 'payment_attempt' | 'payout';
    claim: () => Promise<Claim<Row, Result>>;
    check: (leased: Row) => Promise<Result>;
  },
): Promise<Result> {
  for (let waitedMs = 0; ; waitedMs += OTHER_CHECK_POLL_MS) {
    const claimed = await claim();
    if ('result' in claimed) return claimed.result;
    if ('busy' in claimed) {
      if (waitedMs >= OTHER_CHECK_WAIT_MS) return claimed.busy;
      await sleep(OTHER_CHECK_POLL_MS);
      continue;
    }
    const { id, leaseUntil } = claimed.leased;
    try {
      return await check(claimed.leased);
    } catch (error) {
      const release = `UPDATE ${table} SET lease_until = NULL WHERE id = :id AND lease_until = :leaseUntil`;
      await rows(db, release, { id, leaseUntil }).catch(() => undefined);
      throw error;
    }
  }
}

/** The end of a lease that begins now. */
export function leaseEnd(clock: Clock): Date {
  return new Date(clock().getTime() + LEASE_MS);
}

/** Whether a check has the lease at this time. */
export function isLeased({ leaseUntil }: { leaseUntil: Date | null }, at: Date): boolean {
  return leaseUntil !== null && leaseUntil > at;
}

/** Whether it is this lease which an order still has: no other check began after it had expired. */
export function hasLease(row: { leaseUntil: Date | null }, { leaseUntil }: Leased): boolean {
  return row.leaseUntil?.getTime() === leaseUntil.getTime();
}
