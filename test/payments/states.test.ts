import fc from 'fast-check';

import {
  afterDecline,
  atExpiry,
  ATTEMPT_TRANSITIONS,
  ATTEMPT_STATUSES,
  ATTEMPTS_MAX,
  isAttemptOver,
  SESSION_TRANSITIONS,
  type SessionStatus,
  transactionStatusOf,
  UNKNOWN_GRACE_MS,
} from '../../src/payments/states.ts';

describe('the transition tables', () => {
  test('no transition leaves COMPLETED, and only COMPLETED is reached from another final status', () => {
    const walk = fc.array(fc.nat(), { maxLength: 20 });
    fc.assert(
      fc.property(walk, (choices) => {
        let state: SessionStatus = 'OPEN';
        let ended = false;
        for (const choice of choices) {
          const moves: readonly SessionStatus[] = SESSION_TRANSITIONS[state];
          const next: SessionStatus | undefined = moves[choice % Math.max(moves.length, 1)];
          if (!next) return state === 'COMPLETED';
          if (ended && next !== 'COMPLETED') return false;
          ended = transactionStatusOf(next) !== 'PENDING';
          state = next;
        }
        return true;
      }),
    );
  });

  test('an attempt never goes back to being in flight', () => {
    for (const from of ATTEMPT_STATUSES) {
      for (const to of ATTEMPT_TRANSITIONS[from]) expect(isAttemptOver(from) && !isAttemptOver(to)).toBe(false);
    }
  });

  test('a declined attempt opens the session only if retryable, with attempts left and before the expiry', () => {
    const facts = fc.record({
      retryable: fc.boolean(),
      attemptsCount: fc.integer({ min: 1, max: 5 }),
      expired: fc.boolean(),
    });
    fc.assert(
      fc.property(facts, (one) => {
        const next = afterDecline(one);
        const mayFail = !one.retryable || one.attemptsCount >= ATTEMPTS_MAX;
        return (
          next === (mayFail ? 'FAILED' : one.expired ? 'EXPIRED' : 'OPEN') &&
          SESSION_TRANSITIONS.PROCESSING.includes(next)
        );
      }),
    );
  });

  test('an unknown outcome waits for 24 h at most; a definite result ends at once, no result never', () => {
    const facts = fc.record({
      result: fc.constantFrom('unpaid' as const, 'unknown' as const, 'not queried' as const),
      expiresAtMs: fc.nat(),
      sinceMs: fc.integer({ min: -10, max: UNKNOWN_GRACE_MS * 2 }),
    });
    fc.assert(
      fc.property(facts, ({ result, expiresAtMs, sinceMs }) => {
        const outcomeKind = result === 'unknown' ? 'unknown' : 'pending';
        const expiresAt = new Date(expiresAtMs);
        const attempt = { initiatedAt: new Date(0), queried: result !== 'not queried', outcomeKind, expiresAt };
        const verdict = atExpiry(attempt, new Date(expiresAtMs + sinceMs));
        if (sinceMs < 0 || result === 'not queried') return verdict === 'wait';
        if (result === 'unpaid') return verdict === 'end';
        return verdict === (sinceMs < UNKNOWN_GRACE_MS ? 'wait' : 'reconcile');
      }),
    );
  });
});
