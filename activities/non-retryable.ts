import { ApplicationFailure } from '@temporalio/activity';

import { AppError } from '../src/lib/errors.ts';

/** Does not retry an AppError, which the input causes; all other errors are retried. */
export async function asNonRetryable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) throw ApplicationFailure.nonRetryable(error.message, error.code);
    throw error;
  }
}
