export { payment } from './payment.ts';
export { refund, withdrawal } from './payout.ts';
export { nightlyReconciliation, reconciliation } from './reconciliation.ts';
export { dueReports, report } from './report.ts';
export { resendJob } from './resend-job.ts';
export { settlement } from './settlement.ts';
export { webhookDelivery } from './webhook-delivery.ts';
