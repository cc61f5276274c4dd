import type { Route } from '../http/route.ts';
import { decisionRoutes } from './decision-routes.ts';
import { holidayRoutes, type HolidayRouteDeps } from './holiday-routes.ts';
import { merchantRoutes, type MerchantRouteDeps } from './merchant-routes.ts';
import { operatorRoutes, type OperatorRouteDeps } from './operator-routes.ts';
import { ruleRoutes } from './rule-routes.ts';
import { settlementRoutes } from './settlement-routes.ts';

export type OpsRouteDeps = MerchantRouteDeps & OperatorRouteDeps & HolidayRouteDeps;

/** Everything the platform's own people see and decide. */
export function opsRoutes(deps: OpsRouteDeps): Route[] {
  return [
    ...merchantRoutes(deps),
    ...ruleRoutes(deps),
    ...decisionRoutes(deps),
    ...settlementRoutes(deps),
    ...holidayRoutes(deps),
    ...operatorRoutes(deps),
  ];
}
