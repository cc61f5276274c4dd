import { ApplicationFailure } from '@temporalio/activity';

import { AppError } from '../src/lib/errors.ts';
import { elapsedMs } from './business-time.ts';

export type { PaymentInput } from '../src/payments/workflow-input.ts';

/** Whether the attempt has ended, and how. */
export type PaymentReport = { final: boolean; attemptStatus: string };

type Operation = (attemptId: string, at: Date) => Promise<PaymentReport>;

export type PaymentDeps = {
  /** Asks the provider and applies its answer. */
  check: Operation;
  /** Asks a last time, then expires the attempt and its session; while the provider does not know it is not final. */
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

/** What is wrong with the input stays wrong, so it is not retried; all else is. Histories keep no more than the report. */
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
