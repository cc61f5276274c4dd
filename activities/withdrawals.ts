import type { WithdrawalStage, WithdrawalStatus } from '../src/withdrawals/states.ts';
import { elapsedMs } from './business-time.ts';
import { asNonRetryable } from './non-retryable.ts';

export type { WithdrawalInput } from '../src/withdrawals/workflow.ts';

/** Status and stage: all that histories contain of a withdrawal. */
type WithdrawalReport = { status: WithdrawalStatus; stage: WithdrawalStage };

export type WithdrawalDeps = {
  read: (withdrawalId: string) => Promise<WithdrawalReport>;
  /** The sandbox's own review, if no operator has decided. */
  autoDecide: (withdrawalId: string, at: Date) => Promise<void>;
  /** Sends it or queries the provider, and applies the report. */
  check: (withdrawalId: string, at: Date) => Promise<WithdrawalReport>;
};

type WithdrawalRequest = { withdrawalId: string; atMs: number };

export type WithdrawalActivities = ReturnType<typeof createWithdrawalActivities>;

/** @param elapsed milliseconds since the running activity was scheduled. */
export function createWithdrawalActivities(deps: WithdrawalDeps, elapsed = elapsedMs) {
  const timeOf = (atMs: number): Date => new Date(atMs + elapsed());
  const report = async (work: () => Promise<WithdrawalReport>): Promise<WithdrawalReport> =>
    asNonRetryable(async () => {
      const { status, stage } = await work();
      return { status, stage };
    });
  return {
    readWithdrawal: async ({ withdrawalId }: Pick<WithdrawalRequest, 'withdrawalId'>) =>
      report(() => deps.read(withdrawalId)),
    autoDecide: async ({ withdrawalId, atMs }: WithdrawalRequest) =>
      report(async () => {
        await deps.autoDecide(withdrawalId, timeOf(atMs));
        return deps.read(withdrawalId);
      }),
    checkPayout: async ({ withdrawalId, atMs }: WithdrawalRequest) =>
      report(() => deps.check(withdrawalId, timeOf(atMs))),
  };
}
