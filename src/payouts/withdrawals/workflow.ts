import type { MerchantScope } from '../../lib/scope.ts';
import { outgoingWorkflow } from '../workflow.ts';

/** What the workflow `withdrawal` (workflows/payout.ts) is started with: ids and numbers. */
export type WithdrawalInput = MerchantScope & { withdrawalId: string; channel: string };

type WithdrawalSignal = 'confirmed' | 'approved' | 'rejected' | 'cancelled' | 'providerResultRecorded';

/** The sandbox reviews by itself. */
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
  isWaitOver: { UNDER_REVIEW: "o.environment = 'sandbox'" },
});
