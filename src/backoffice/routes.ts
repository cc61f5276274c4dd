import type { Route } from '../http/route.ts';
import { decisionRoutes } from './decision-routes.ts';
import { holidayRoutes, type HolidayRouteDeps } from './holiday-routes.ts';
import { kycRoutes, type KycRouteDeps } from './kyc-routes.ts';
import { merchantRoutes, type MerchantRouteDeps } from './merchant-routes.ts';
import { moneyDetailRoutes } from './money-detail-routes.ts';
import { moneyRoutes, type MoneyRouteDeps } from './money-routes.ts';
import { operatorRoutes, type OperatorRouteDeps } from './operator-routes.ts';
import { reconciliationRoutes, type ReconciliationRouteDeps } from './reconciliation-routes.ts';
import { ruleRoutes } from './rule-routes.ts';
import { settlementRoutes, type SettlementRouteDeps } from './settlement-routes.ts';
import { workQueueRoutes, type WorkQueueRouteDeps } from './work-queue-routes.ts';

export type OpsRouteDeps = MerchantRouteDeps &
  OperatorRouteDeps &
  HolidayRouteDeps &
  WorkQueueRouteDeps &
  KycRouteDeps &
  SettlementRouteDeps &
  MoneyRouteDeps &
  ReconciliationRouteDeps;

/** Everything the platform's own people see and decide. */
export function opsRoutes(deps: OpsRouteDeps): Route[] {
  return [
    ...workQueueRoutes(deps),
    ...merchantRoutes(deps),
    ...ruleRoutes(deps),
    ...kycRoutes(deps),
    ...decisionRoutes(deps),
    ...settlementRoutes(deps),
    ...moneyRoutes(deps),
    ...moneyDetailRoutes(deps),
    ...reconciliationRoutes(deps),
    ...holidayRoutes(deps),
    ...operatorRoutes(deps),
  ];
}
