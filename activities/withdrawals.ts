import { untilConfirmed, type UntilConfirmed } from '../src/payouts/states.ts';
import type { WithdrawalStage, WithdrawalStatus } from '../src/payouts/withdrawals/states.ts';
import { elapsedMs, withoutUselessRetries } from './running.ts';

export type { WithdrawalInput } from '../src/payouts/withdrawals/workflow.ts';

/** All that histories contain of a withdrawal. */
type WithdrawalReport = { status: WithdrawalStatus; stage: WithdrawalStage } & UntilConfirmed;
type WithdrawalNow = { status: WithdrawalStatus; stage: WithdrawalStage; requestedAt: Date };

export type WithdrawalDeps = {
  /** Ends it, where no second person has confirmed it in time. */
  read: (withdrawalId: string, at: Date) => Promise<WithdrawalNow>;
  /** The sandbox's own review, if no operator has decided. */
  autoDecide: (withdrawalId: string, at: Date) => Promise<void>;
  /** Sends it or queries the provider, and applies the report. */
  check: (withdrawalId: string, at: Date) => Promise<WithdrawalNow>;
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

function reportOf({ status, stage, requestedAt }: WithdrawalNow): WithdrawalReport {
  return { status, stage, ...untilConfirmed({ stage, requestedAt }) };
}
