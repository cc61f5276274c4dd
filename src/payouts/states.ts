/* What withdrawals and refunds have in common, without imports, so that workflows and pages can use it. */

/** How long a second person may take to confirm one, from its request on. It ends afterwards. */
const CONFIRMATION_MS = 7 * 24 * 60 * 60_000;

/** When one that waits for its confirmation ends. */
export const confirmableUntil = (requestedAt: Date): Date => new Date(requestedAt.getTime() + CONFIRMATION_MS);

/** In ms since 1970: when one that waits for its confirmation ends. */
export type UntilConfirmed = { confirmableUntilMs?: number };

/** What the workflow of a payout knows of its wait for a confirmation. */
export const untilConfirmed = ({ stage, requestedAt }: { stage: string; requestedAt: Date }): UntilConfirmed =>
  stage === 'AWAITING_CONFIRMATION' ? { confirmableUntilMs: confirmableUntil(requestedAt).getTime() } : {};
