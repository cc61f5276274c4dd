import type { MerchantScope } from '../../lib/scope.ts';
import { outgoingWorkflow } from '../workflow.ts';

/** What `workflows/withdrawal.ts` is started with: ids and numbers. */
export type WithdrawalInput = MerchantScope & { withdrawalId: string; channel: string };

type WithdrawalSignal = 'confirmed' | 'approved' | 'rejected' | 'cancelled' | 'providerResultRecorded';

/** A job of the worker ends what is not confirmed in time, and the sandbox reviews by itself. */
export const {
  idOf: withdrawalWorkflowId,
  start: withdrawalWorkflow,
  message: withdrawalMessage,
  resumeUnsent,
  findRecoverable: findRecoverableWithdrawals,
} = outgoingWorkflow<WithdrawalSignal>({
  kind: 'withdrawal',
  recovered: 'providerResultRecorded',
  resumed: 'approved',
  isWaitOver: { AWAITING_CONFIRMATION: 'false', UNDER_REVIEW: "o.environment = 'sandbox'" },
});
