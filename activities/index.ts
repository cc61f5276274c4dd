import { createPaymentActivities, type PaymentDeps } from './payments.ts';
import { createReconciliationActivities, type ReconciliationDeps } from './reconciliation.ts';
import { createRefundActivities, type RefundDeps } from './refunds.ts';
import { createReportActivities, type ReportDeps } from './reports.ts';
import { createSettlementActivities, type SettlementDeps } from './settlements.ts';
import { createWebhookActivities, type WebhookDeps } from './webhooks.ts';
import { createWithdrawalActivities, type WithdrawalDeps } from './withdrawals.ts';

/** Everything that may fail and be retried, by noun; the worker gives each task queue what it needs. */
export function createActivities(deps: {
  payments: PaymentDeps;
  refunds: RefundDeps;
  withdrawals: WithdrawalDeps;
  settlements: SettlementDeps;
  webhooks: WebhookDeps;
  reports: ReportDeps;
  reconciliation: ReconciliationDeps;
}) {
  return {
    payments: createPaymentActivities(deps.payments),
    refunds: createRefundActivities(deps.refunds),
    withdrawals: createWithdrawalActivities(deps.withdrawals),
    settlements: createSettlementActivities(deps.settlements),
    webhooks: createWebhookActivities(deps.webhooks),
    reports: createReportActivities(deps.reports),
    reconciliation: createReconciliationActivities(deps.reconciliation),
  };
}
