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

/** ignored: a result that does not show whether the provider is available; it is not counted. */
export type CallResult = 'success' | 'failure' | 'ignored';

type Options = {
  clock: Clock;
  /** Called when it opens, when a probe fails, and when it closes. */
  onChange: (isOpen: boolean) => void;
};

/**
 * A circuit breaker in memory: while it is open no call is made, and after `openMs` one call at a time is let through until
 * one succeeds. Calls that were in flight when it opened are not counted.
 */
export function createCircuitBreaker({ clock, onChange }: Options) {
  let recent: { atMs: number; failed: boolean }[] = [];
  let failuresInRow = 0;
  let openedAtMs: number | null = null;
  let isProbing = false;

  const open = (atMs: number): void => {
    openedAtMs = atMs;
    onChange(true);
  };
  const close = (): void => {
    [recent, failuresInRow, openedAtMs] = [[], 0, null];
    onChange(false);
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
    return isProbing || (elapsedMs >= 0 && elapsedMs < CIRCUIT.openMs);
  }

  return {
    /** Makes the call and counts its result; null, without a call, while the circuit is open. */
    async run<Result>(call: () => Promise<Result>, judge: (result: Result) => CallResult): Promise<Result | null> {
      if (isHolding(clock().getTime())) return null;
      const isProbe = openedAtMs !== null;
      isProbing = isProbe;
      try {
        const result = await call();
        const judged = judge(result);
        const nowMs = clock().getTime();
        if (judged === 'ignored') return result;
        if (!isProbe && openedAtMs === null) count(judged === 'failure', nowMs);
        if (isProbe && judged === 'failure') open(nowMs);
        if (isProbe && judged === 'success') close();
        return result;
      } finally {
        if (isProbe) isProbing = false;
      }
    },
  };
}
