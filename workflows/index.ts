export { payment } from './payment.ts';
export { nightlyReconciliation, reconciliation } from './reconciliation.ts';
export { refund } from './refund.ts';
export { report } from './report.ts';
export { settlement } from './settlement.ts';
export { webhookDelivery } from './webhook-delivery.ts';
export { withdrawal } from './withdrawal.ts';
