import type { WithdrawalStage, WithdrawalStatus } from '../src/payouts/withdrawals/states.ts';
import { elapsedMs, withoutUselessRetries } from './running.ts';

export type { WithdrawalInput } from '../src/payouts/withdrawals/workflow.ts';

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

export function createWithdrawalActivities(deps: WithdrawalDeps) {
  const timeOf = (atMs: number): Date => new Date(atMs + elapsedMs());
  return withoutUselessRetries({
    async readWithdrawal({ withdrawalId }: Pick<WithdrawalRequest, 'withdrawalId'>): Promise<WithdrawalReport> {
      return reportOf(await deps.read(withdrawalId));
    },

    async autoDecide({ withdrawalId, atMs }: WithdrawalRequest): Promise<WithdrawalReport> {
      await deps.autoDecide(withdrawalId, timeOf(atMs));
      return reportOf(await deps.read(withdrawalId));
    },

    async checkPayout({ withdrawalId, atMs }: WithdrawalRequest): Promise<WithdrawalReport> {
      return reportOf(await deps.check(withdrawalId, timeOf(atMs)));
    },
  });
}

function reportOf({ status, stage }: WithdrawalReport): WithdrawalReport {
  return { status, stage };
}
