import type { WithdrawalStage, WithdrawalStatus } from '../src/payouts/withdrawals/states.ts';
import { elapsedMs, withoutUselessRetries } from './running.ts';

export type { WithdrawalInput } from '../src/payouts/withdrawals/workflow.ts';

/** Status and stage: all that histories contain of a withdrawal. */
type WithdrawalReport = { status: WithdrawalStatus; stage: WithdrawalStage };

export type WithdrawalDeps = {
  /** Ends it, where no second person has confirmed it in time. */
  read: (withdrawalId: string, at: Date) => Promise<WithdrawalReport>;
  /** The sandbox's own review, if no operator has decided. */
  autoDecide: (withdrawalId: string, at: Date) => Promise<void>;
  /** Sends it or queries the provider, and applies the report. */
  check: (withdrawalId: string, at: Date) => Promise<WithdrawalReport>;
};

type WithdrawalRequest = { withdrawalId: string; atMs: number };
type ReadRequest = { withdrawalId: string; atMs?: number };

export type WithdrawalActivities = ReturnType<typeof createWithdrawalActivities>;

export function createWithdrawalActivities(deps: WithdrawalDeps) {
  const timeOf = (atMs: number): Date => new Date(atMs + elapsedMs());
  return withoutUselessRetries({
    // Scheduled without a time before 2026-11-29.
    async readWithdrawal({ withdrawalId, atMs = Date.now() }: ReadRequest): Promise<WithdrawalReport> {
      return reportOf(await deps.read(withdrawalId, timeOf(atMs)));
    },

    async autoDecide({ withdrawalId, atMs }: WithdrawalRequest): Promise<WithdrawalReport> {
      await deps.autoDecide(withdrawalId, timeOf(atMs));
      return reportOf(await deps.read(withdrawalId, timeOf(atMs)));
    },

    async checkPayout({ withdrawalId, atMs }: WithdrawalRequest): Promise<WithdrawalReport> {
      return reportOf(await deps.check(withdrawalId, timeOf(atMs)));
    },
  });
}

function reportOf({ status, stage }: WithdrawalReport): WithdrawalReport {
  return { status, stage };
}
