import type { Route } from '../http/route.ts';
import { decisionRoutes } from './decision-routes.ts';
import { merchantRoutes, type MerchantRouteDeps } from './merchant-routes.ts';
import { operatorRoutes, type OperatorRouteDeps } from './operator-routes.ts';

export type OpsRouteDeps = MerchantRouteDeps & OperatorRouteDeps;

/** Everything the platform's own people see and decide. */
export function opsRoutes(deps: OpsRouteDeps): Route[] {
  return [...merchantRoutes(deps), ...decisionRoutes(deps), ...operatorRoutes(deps)];
}
