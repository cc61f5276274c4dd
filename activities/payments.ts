import { ApplicationFailure } from '@temporalio/activity';

import { AppError } from '../src/lib/errors.ts';
import { elapsedMs } from './business-time.ts';

export type { PaymentInput } from '../src/payments/workflow.ts';

/** Whether the attempt has ended, and its outcome. */
export type PaymentReport = { final: boolean; attemptStatus: string };

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
  return {
    async checkAttempt(request: PaymentRequest): Promise<PaymentReport> {
      return run(deps.check, { ...request, atMs: request.atMs + elapsed() });
    },

    /** The last query, then the end. */
    async expireAttempt(request: PaymentRequest): Promise<PaymentReport> {
      return run(deps.expire, { ...request, atMs: request.atMs + elapsed() });
    },
  };
}

/** Invalid input is not retried; any other failure is. Histories hold no more than the report. */
async function run(operation: Operation, { attemptId, atMs }: PaymentRequest): Promise<PaymentReport> {
  const at = new Date(atMs);
  if (!/^pat_\w+$/.test(attemptId) || Number.isNaN(at.getTime())) {
    throw ApplicationFailure.nonRetryable('attemptId must be pat_…, atMs milliseconds since 1970', 'VALIDATION_ERROR');
  }
  try {
    const { final, attemptStatus } = await operation(attemptId, at);
    return { final, attemptStatus };
  } catch (error) {
    if (error instanceof AppError) throw ApplicationFailure.nonRetryable(error.message, error.code);
    throw error;
  }
}
