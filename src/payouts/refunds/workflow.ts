import type { MerchantScope } from '../../lib/scope.ts';
import { outgoingWorkflow } from '../workflow.ts';

/** What the workflow `refund` (workflows/payout.ts) is started with: ids. */
export type RefundInput = MerchantScope & { refundId: string; channel: string };

export const {
  idOf: refundWorkflowId,
  start: refundWorkflow,
  message: refundMessage,
  resumeUnsent: resumeUnsentRefunds,
  findRecoverable: findRecoverableRefunds,
} = outgoingWorkflow<'refundUpdated'>({
  kind: 'refund',
  recovered: 'refundUpdated',
  resumed: 'refundUpdated',
  isWaitOver: {},
});
