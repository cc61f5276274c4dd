/** How long to wait for whoever is in the way: doubling from 1 s to 20 s, and up to half of that more. */
const BUSY_MS = { first: 1_000, max: 20_000 };

/**
 * The pause in ms after an attempt that found somebody in the way, `timesInARow` of them (1 …): ever longer, at most
 * 30 s, and not the same for all who wait.
 * @param jitter 0 … 1
 */
export function busyPauseMs(timesInARow: number, jitter: number): number {
  const pauseMs = Math.min(BUSY_MS.first * 2 ** (timesInARow - 1), BUSY_MS.max);
  return pauseMs * (1 + jitter / 2);
}
