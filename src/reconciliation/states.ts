/*
 * The states of a reconciled day, pure: importable by workflows.
 */

import type { Santim } from '../lib/money.ts';

/** INCOMPLETE: the statement is not completely imported (yet), so the result is unknown. */
export const RECONCILIATION_STATUSES = ['INCOMPLETE', 'DISCREPANCIES', 'CLEAN'] as const;
export type ReconciliationStatus = (typeof RECONCILIATION_STATUSES)[number];

/**
 * After the recheck:
 * - UNKNOWN_ORDER: listed, and not an order of this channel
 * - UNCONFIRMED: listed, and the provider does not confirm it when queried
 * - AMOUNT_MISMATCH: listed with another amount or currency than booked, or in conflicting rows
 * - MISSING_FROM_STATEMENT: booked, and in no statement
 */
export const DISCREPANCY_KINDS = ['UNKNOWN_ORDER', 'UNCONFIRMED', 'AMOUNT_MISMATCH', 'MISSING_FROM_STATEMENT'] as const;
export type DiscrepancyKind = (typeof DISCREPANCY_KINDS)[number];

/** The number and the santim of the orders of one side, as a column of the day has them. */
export type SideSums = Record<'payments' | 'payouts' | 'reversals' | 'refunds', { count: number; santim: Santim }>;

/** A statement that is not available is requested again after 5, 10, 20 s … 30 min. */
const FIRST_PAUSE_MS = 5_000;
const PAUSE_MAX_MS = 30 * 60_000;

/** How long to wait before the next request, after this many consecutive failures (from 1). */
export function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), PAUSE_MAX_MS);
}

/** How long one run retries; the following nights request the day again. */
export const RUN_TIMEOUT_MS = 20 * 60 * 60_000;
