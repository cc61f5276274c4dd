import type { z } from 'zod';

import { operatorRoute } from '../../access/operator-route.ts';
import type { Route } from '../../http/route.ts';
import type { Database } from '../../lib/db.ts';
import { toSantim } from '../../lib/money.ts';
import type { Environment } from '../../lib/scope.ts';
import { compareRules, readRules } from '../effective-rules.ts';
import { readMerchant } from '../operations.ts';
import { settingRoutes } from '../setting-routes.ts';
import type { FindConfigured } from './channel.ts';
import { addLimitRule, type StoredLimitRule } from './limits.ts';
import { maintenanceRoutes } from './maintenance-routes.ts';
import { setChannelApproval } from './operations.ts';
import { presentChannel, presentLimits } from './queries.ts';
import * as schema from './schema.ts';

type Deps = { db: Database; findProvider: FindConfigured };

/** The approval of merchants' channels, their limits, and maintenance windows of channels. */
export function channelOperatorRoutes(deps: Deps): Route[] {
  return [...APPROVALS.map((route) => approvalRoute(deps, route)), ...limitRoutes(deps), ...maintenanceRoutes(deps)];
}

const APPROVALS = [
  {
    verb: 'approve',
    operationId: 'opsApproveChannel',
    summary: 'Approve a channel for a merchant, who then switches it on',
    approval: 'APPROVED',
    body: schema.ChannelApproval,
  },
  {
    verb: 'suspend',
    operationId: 'opsSuspendChannel',
    summary: 'Suspend a channel for a merchant: no new payments, payments in flight continue',
    approval: 'SUSPENDED',
    body: schema.ChannelSuspension,
  },
] as const;

function approvalRoute({ findProvider }: Deps, { verb, approval, ...declared }: (typeof APPROVALS)[number]): Route {
  const body: z.ZodType<{ environment: Environment }> = declared.body;
  return operatorRoute(`POST /api/ops/merchants/:merchantId/channels/:channel/${verb}`, {
    ...declared,
    body,
    cli: `channels ${verb}`,
    action: `channel.${verb}`,
    params: schema.MerchantChannelParams,
    responses: { 200: schema.Channel },
    run: async ({ tx }, { params: { merchantId, channel }, body: { environment } }) => {
      const scope = { merchantId, environment };
      await readMerchant(tx.trx, merchantId);
      const place = { ...scope, channel };
      const { before, after, changed } = await setChannelApproval({ tx, findProvider }, place, approval);
      const change = { before: { approval: before.approval }, after: { approval } };
      const audit = changed ? { resourceType: 'channel' as const, resourceId: channel, ...scope, ...change } : null;
      return { message: `Channel ${channel} is ${approval}`, data: presentChannel(after), audit };
    },
  });
}

function limitRoutes(deps: Deps): Route[] {
  return settingRoutes(deps, {
    path: 'limits',
    name: 'Limits',
    get: { operationId: 'opsGetLimits', summary: "Get a merchant's current and scheduled limits" },
    put: {
      operationId: 'opsChangeLimits',
      summary: "Add versions of a merchant's own limits, within those of the platform",
    },
    action: 'merchant.change-limits',
    body: schema.LimitChanges,
    response: schema.LimitSchedule,
    read: (db, about) => readRules(db, { table: 'limit_rule', present: presentLimit }, about),
    write: async (trx, { merchantId, at }, { rules }) => {
      for (const { min, max, daily, ...rule } of rules) {
        const dailySantim = daily === null ? null : toSantim(daily);
        const limits = { minSantim: toSantim(min), maxSantim: toSantim(max), dailySantim };
        await addLimitRule(trx, { ...rule, ...limits, merchantId }, at);
      }
    },
    compare: compareRules,
  });
}

function presentLimit({ id, merchantId, ...rule }: StoredLimitRule) {
  const { direction, channel, validFrom, version } = rule;
  const own = merchantId !== null;
  return { limitRuleId: id, own, direction, channel, ...presentLimits(rule), validFrom, version };
}
