import { accessOperatorRoutes } from '../access/operator-routes.ts';
import { merchantAdministrationRoutes } from '../backoffice/merchant-routes.ts';
import { workQueueRoutes } from '../backoffice/work-queue-routes.ts';
import type { Route } from '../http/route.ts';
import { feeOperatorRoutes } from '../ledger/operator-routes.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { channelOperatorRoutes } from '../merchants/channels/operator-routes.ts';
import { kycOperatorRoutes } from '../merchants/kyc/operator-routes.ts';
import type { DocumentStore } from '../merchants/kyc/store.ts';
import { merchantOperatorRoutes } from '../merchants/operator-routes.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { paymentOperatorRoutes } from '../payments/operator-routes.ts';
import type { FindProvider } from '../providers/provider.ts';
import { reconciliationOperatorRoutes } from '../reconciliation/operator-routes.ts';
import { receiptOperatorRoutes } from '../reconciliation/receipts/operator-routes.ts';
import { bankAccountOperatorRoutes } from '../settlements/bank-account/operator-routes.ts';
import { calendarOperatorRoutes } from '../settlements/calendar/operator-routes.ts';
import { settlementOperatorRoutes } from '../settlements/operator-routes.ts';
import { withdrawalOperatorRoutes } from '../withdrawals/operator-routes.ts';

export type OperatorRouteDeps = {
  db: Database;
  runInTransaction: RunInTransaction;
  clock: Clock;
  findProvider: FindProvider;
  store: DocumentStore;
  pepper: string;
  workflowUrl: (workflowId: string) => string | null;
};

/** The operators' routes of all slices. */
export function operatorRoutesOf(deps: OperatorRouteDeps): Route[] {
  return [
    ...workQueueRoutes(deps),
    ...merchantOperatorRoutes(deps),
    ...merchantAdministrationRoutes(deps),
    ...channelOperatorRoutes(deps),
    ...feeOperatorRoutes(deps),
    ...kycOperatorRoutes(deps),
    ...withdrawalOperatorRoutes(deps),
    ...settlementOperatorRoutes(deps),
    ...bankAccountOperatorRoutes(deps),
    ...calendarOperatorRoutes(deps),
    ...paymentOperatorRoutes(deps),
    ...reconciliationOperatorRoutes(deps),
    ...receiptOperatorRoutes(deps),
    ...accessOperatorRoutes(deps),
  ];
}
