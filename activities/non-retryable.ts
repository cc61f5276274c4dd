import { ApplicationFailure } from '@temporalio/activity';

import { AppError } from '../src/lib/errors.ts';

/** What is wrong with the input stays wrong, so it is not retried; all else is. */
export async function asNonRetryable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) throw ApplicationFailure.nonRetryable(error.message, error.code);
    throw error;
  }
}
