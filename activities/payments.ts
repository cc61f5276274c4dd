import { ApplicationFailure } from '@temporalio/activity';

import { elapsedMs } from './business-time.ts';
import { asNonRetryable } from './non-retryable.ts';

export type { PaymentInput } from '../src/payments/workflow.ts';

/** Whether the attempt has ended, and its outcome. */
type PaymentReport = { final: boolean; attemptStatus: string };

type Operation = (attemptId: string, at: Date) => Promise<PaymentReport>;

export type PaymentDeps = {
  /** Queries the provider and applies its result. */
  check: Operation;
  /** Queries a last time, then expires the attempt and its session; not final while the outcome is unknown. */
  expire: Operation;
};

type PaymentRequest = { attemptId: string; atMs: number };

export type PaymentActivities = ReturnType<typeof createPaymentActivities>;

/** @param elapsed milliseconds since the running activity was scheduled. */
export function createPaymentActivities(deps: PaymentDeps, elapsed = elapsedMs) {
  const run = async (operation: Operation, { attemptId, atMs }: PaymentRequest): Promise<PaymentReport> => {
    const at = new Date(atMs + elapsed());
    if (!/^pat_\w+$/.test(attemptId) || Number.isNaN(at.getTime())) {
      const message = 'attemptId must be pat_…, atMs milliseconds since 1970';
      throw ApplicationFailure.nonRetryable(message, 'VALIDATION_ERROR');
    }
    return asNonRetryable(async () => {
      const { final, attemptStatus } = await operation(attemptId, at);
      return { final, attemptStatus };
    });
  };
  return {
    checkAttempt: async (request: PaymentRequest) => run(deps.check, request),
    expireAttempt: async (request: PaymentRequest) => run(deps.expire, request),
  };
}
