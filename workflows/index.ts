export { payment } from './payment.ts';
export { settlement } from './settlement.ts';
export { webhookDelivery } from './webhook-delivery.ts';
export { withdrawal } from './withdrawal.ts';
