import type { Clock } from '../lib/clock.ts';
import { UNAVAILABLE_SECONDS } from '../merchants/channels/channel.ts';

/** When a circuit opens, and for how long. */
export const CIRCUIT = {
  /** It opens after this number of consecutive failures, */
  failuresInRow: 5,
  /** or when this share of the calls in the window failed; */
  failedPart: 0.5,
  /** the share counts from this number of calls on. */
  callsMin: 10,
  windowMs: 30_000,
  /**
   * How long it stays open before one call is let through as a probe: half as long as the channel is shown as unavailable,
   * so that the probe is a call about an order in flight, not a new payment.
   */
  openMs: (UNAVAILABLE_SECONDS * 1_000) / 2,
} as const;

/**
 * unsent: no call was made. ignored: a result that neither opens the circuit nor keeps it open: it is not counted, and of a
 * probe it closes the circuit. pauseMs: the provider asks for no calls in that time, so it opens at once.
 */
export type CallResult = 'success' | 'failure' | 'ignored' | 'unsent' | { pauseMs: number };

type Options = {
  clock: Clock;
  /** Called when it opens and when a probe fails, with the time for which it stays open, and with 0 when it closes. */
  onChange: (openMs: number) => void;
};

/**
 * A circuit breaker in memory: while it is open no call is made, and after that time one call at a time is let through until
 * one does not fail. Calls that were in flight when it opened are not counted.
 */
export function createCircuitBreaker({ clock, onChange }: Options) {
  let recent: { atMs: number; failed: boolean }[] = [];
  let failuresInRow = 0;
  let openedAtMs: number | null = null;
  let openMs = 0;
  let isProbing = false;

  const open = (atMs: number, forMs: number = CIRCUIT.openMs): void => {
    [openedAtMs, openMs] = [atMs, forMs];
    onChange(forMs);
  };
  const close = (): void => {
    [recent, failuresInRow, openedAtMs] = [[], 0, null];
    onChange(0);
  };

  function count(failed: boolean, atMs: number): void {
    const isRecent = (one: { atMs: number }): boolean => Math.abs(atMs - one.atMs) <= CIRCUIT.windowMs;
    recent = [...recent, { atMs, failed }].filter(isRecent);
    failuresInRow = failed ? failuresInRow + 1 : 0;
    const failures = recent.filter((one) => one.failed).length;
    const hasManyFailures = recent.length >= CIRCUIT.callsMin && failures >= recent.length * CIRCUIT.failedPart;
    if (failed && (failuresInRow >= CIRCUIT.failuresInRow || hasManyFailures)) open(atMs);
  }

  /** Whether it is open and its time is not over. A clock that was set back does not prolong it. */
  function isHolding(nowMs: number): boolean {
    if (openedAtMs === null) return false;
    const elapsedMs = nowMs - openedAtMs;
    return isProbing || (elapsedMs >= 0 && elapsedMs < openMs);
  }

  return {
    /** Makes the call and counts its result; null, without a call, while the circuit is open. */
    async run<Result>(call: () => Promise<Result>, classify: (result: Result) => CallResult): Promise<Result | null> {
      if (isHolding(clock().getTime())) return null;
      const isProbe = openedAtMs !== null;
      isProbing = isProbe;
      try {
        const result = await call();
        const shown = classify(result);
        const nowMs = clock().getTime();
        if (shown === 'unsent' || (!isProbe && (shown === 'ignored' || openedAtMs !== null))) return result;
        if (typeof shown === 'object') open(nowMs, shown.pauseMs);
        else if (!isProbe) count(shown === 'failure', nowMs);
        else if (shown === 'failure') open(nowMs);
        else close();
        return result;
      } finally {
        if (isProbe) isProbing = false;
      }
    },
  };
}
