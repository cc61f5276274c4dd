/*
 * What becomes of a channel's day, pure: importable by workflows.
 */

/** INCOMPLETE: the provider's list was not read to its end (yet), so nothing can be said. */
export const RECONCILIATION_STATUSES = ['INCOMPLETE', 'DIFFERENCES', 'CLEAN'] as const;
export type ReconciliationStatus = (typeof RECONCILIATION_STATUSES)[number];

/**
 * What can differ, once all was asked about:
 * - UNKNOWN_ORDER: listed, and no order of ours on this channel
 * - UNCONFIRMED: listed, and the provider does not say so when it is asked for that order
 * - AMOUNT_MISMATCH: listed with another amount or currency than we have booked, or twice
 * - MISSING_FROM_STATEMENT: booked, and on no list
 */
export const DISCREPANCY_KINDS = ['UNKNOWN_ORDER', 'UNCONFIRMED', 'AMOUNT_MISMATCH', 'MISSING_FROM_STATEMENT'] as const;
export type DiscrepancyKind = (typeof DISCREPANCY_KINDS)[number];

/** A provider that does not give its list is asked again after 5, 10, 20 s … 30 min. */
const FIRST_PAUSE_MS = 5_000;
const PAUSE_MAX_MS = 30 * 60_000;

/** How long to wait before the provider is asked again, after so many failures in a row (from 1). */
export function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), PAUSE_MAX_MS);
}

/** How long a day is tried for at a time; the next nights ask for it again. */
export const RUN_TIMEOUT_MS = 20 * 60 * 60_000;
