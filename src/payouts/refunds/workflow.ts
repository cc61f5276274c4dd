import type { MerchantScope } from '../../lib/scope.ts';
import { outgoingWorkflow } from '../workflow.ts';

/** What `workflows/refund.ts` is started with: ids. */
export type RefundInput = MerchantScope & { refundId: string; channel: string };

/** The workflow ends what is not confirmed in time. */
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
  isWaitOver: { AWAITING_CONFIRMATION: "o.requested_at < now() - interval '7 days 1 hour'" },
});
