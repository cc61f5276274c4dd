import type { z } from 'zod';

import { operatorListRoute, operatorRoute } from '../../access/operator-route.ts';
import { OptionalReason } from '../../access/operator-schema.ts';
import type { Route } from '../../http/route.ts';
import type { Database } from '../../lib/db.ts';
import { toSantim } from '../../lib/money.ts';
import type { Environment } from '../../lib/scope.ts';
import { compareRules, readRules } from '../effective-rules.ts';
import { readMerchant } from '../operations.ts';
import { settingRoutes } from '../setting-routes.ts';
import type { FindConfigured } from './channel.ts';
import { addLimitRule, type StoredLimitRule } from './limits.ts';
import { cancelMaintenance, listMaintenance, planMaintenance, presentMaintenance } from './maintenance.ts';
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

/** Maintenance windows of channels, for all merchants of an environment. */
function maintenanceRoutes({ db }: Deps): Route[] {
  return [
    operatorListRoute('GET /api/ops/channels/maintenance', {
      operationId: 'opsListMaintenance',
      cli: {
        name: 'channels list-maintenance',
        columns: 'startsAt endsAt maintenanceId channel environment state reason',
        bothEnvironments: true,
      },
      summary: 'List maintenance windows of channels, the latest start first',
      query: schema.MaintenanceListQuery,
      item: schema.ListedMaintenance,
      names: { db, fields: schema.MAINTENANCE_NAMES },
      name: 'Maintenance windows',
      list: (query, page) => listMaintenance(db, query, page),
      present: presentMaintenance,
    }),
    operatorRoute('POST /api/ops/channels/:channel/maintenance', {
      operationId: 'opsPlanMaintenance',
      cli: 'channels plan-maintenance',
      summary: 'Plan a maintenance window of a channel, for all merchants of an environment',
      description:
        'While it is open, new payments and withdrawals on the channel are rejected with CHANNEL_NOT_AVAILABLE and Retry-After; payments, payouts and callbacks in flight continue. It is at most 30 days long and overlaps no other window of the channel.',
      action: 'channel.plan-maintenance',
      params: schema.ChannelParams,
      body: schema.NewMaintenance,
      responses: { 201: schema.Maintenance },
      errors: ['DUPLICATE_REFERENCE'],
      run: async ({ tx, operatorId }, { params: { channel }, body }) => {
        const planned = await planMaintenance(tx, { ...body, channel, createdBy: operatorId });
        const { id, environment, startsAt, endsAt } = planned;
        const after = { channel, startsAt, endsAt };
        const audit = { resourceType: 'maintenance' as const, resourceId: id, environment, after };
        const when = `from ${startsAt.toISOString()} to ${endsAt.toISOString()}`;
        const message = `Maintenance of ${channel} (${environment}) is planned ${when}`;
        return { status: 201, message, data: presentMaintenance(planned), audit };
      },
    }),
    operatorRoute('POST /api/ops/channels/maintenance/:maintenanceId/cancel', {
      operationId: 'opsCancelMaintenance',
      cli: 'channels cancel-maintenance',
      summary: 'Cancel a maintenance window, or end an open one now',
      action: 'channel.cancel-maintenance',
      params: schema.MaintenanceParams,
      body: OptionalReason,
      responses: { 200: schema.Maintenance },
      errors: ['INVALID_STATE'],
      run: async ({ tx, operatorId }, { params: { maintenanceId: id } }) => {
        const { before, after } = await cancelMaintenance(tx, { id, operatorId });
        const { channel, environment, state } = after;
        const change = { before: { state: before.state }, after: { channel, state } };
        const isNew = before.cancelledAt === null;
        const audit = isNew ? { resourceType: 'maintenance' as const, resourceId: id, environment, ...change } : null;
        const message = `Maintenance of ${channel} (${environment}) is ${state === 'OVER' ? 'ended' : 'cancelled'}`;
        return { message, data: presentMaintenance(after), audit };
      },
    }),
  ];
}
