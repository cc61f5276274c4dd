import type { Environment } from '../../lib/scope.ts';
import type { OutboxMessage } from '../../outbox/record.ts';
import { findRecoverable } from '../../outbox/recover-workflows.ts';

/** The input of `workflows/resend-job.ts`: ids only. `merchantId` is null for an operator's job. */
export type ResendJobInput = { jobId: string; merchantId: string | null; environment: Environment };

export function resendWorkflowId(jobId: string): string {
  return `resend-${jobId}`;
}

/** Starts the workflow of a bulk resend. A workflow that runs already ignores the signal. */
export function resendJobMessage({ jobId, merchantId, environment }: ResendJobInput): OutboxMessage {
  return {
    kind: 'signalWithStart',
    signal: 'ensureRunning',
    workflowType: 'resendJob',
    workflowId: resendWorkflowId(jobId),
    input: { jobId, merchantId, environment },
  };
}

/** Also those of releases in which workers ran them without a workflow. Past due: no batch for a minute. */
export const findRecoverableResendJobs = findRecoverable<ResendJobInput>({
  columns: 'j.id AS job_id, j.merchant_id, j.environment',
  from: 'webhook_resend_job j',
  id: 'j.id',
  isOpen: 'j.ended_at IS NULL',
  changedAt: 'j.next_batch_at',
  isPastDue: "j.next_batch_at < now() - interval '60 seconds'",
  workflowId: `'${resendWorkflowId('')}' || j.id`,
  message: resendJobMessage,
});
