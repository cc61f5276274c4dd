/* What withdrawals and refunds have in common, without imports, so that workflows and pages can use it. */

/** How long a second person may take to confirm one, from its request on. It ends afterwards. */
const CONFIRMATION_MS = 7 * 24 * 60 * 60_000;

/** When one that waits for its confirmation ends. */
export const confirmableUntil = (requestedAt: Date): Date => new Date(requestedAt.getTime() + CONFIRMATION_MS);
