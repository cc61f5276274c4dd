import { operatorReadRoute, operatorRoute } from '../../access/operator-route.ts';
import { MerchantParams } from '../../access/operator-schema.ts';
import type { Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { addRules, presentSchedule } from '../../lib/effective-rules.ts';
import { notFound } from '../../lib/errors.ts';
import { toSantim } from '../../lib/money.ts';
import { readMerchant } from '../operations.ts';
import type { FindConfigured } from './channel.ts';
import { addLimitRule, listLimitRules, type StoredLimitRule } from './limits.ts';
import { setChannelApproval } from './operations.ts';
import { presentChannel, presentLimits } from './present.ts';
import { listChannels } from './queries.ts';
import * as schema from './schema.ts';

type Deps = { db: Database; clock: Clock; findProvider: FindConfigured };

/** The approval of merchants' channels, and their limits. */
export function channelOperatorRoutes(deps: Deps): Route[] {
  return [
    approvalRoute(deps, {
      path: 'approve',
      operationId: 'opsApproveChannel',
      cli: 'channels approve',
      summary: 'Approve a channel for a merchant, who then switches it on',
      approval: 'APPROVED',
      body: schema.ChannelApproval,
    }),
    approvalRoute(deps, {
      path: 'suspend',
      operationId: 'opsSuspendChannel',
      cli: 'channels suspend',
      summary: 'Suspend a channel for a merchant: no new payments, payments in flight continue',
      approval: 'SUSPENDED',
      body: schema.ChannelSuspension,
    }),
    ...limitRoutes(deps),
  ];
}

type ApprovalRoute = {
  path: 'approve' | 'suspend';
  operationId: string;
  cli: Route['cli'];
  summary: string;
  approval: 'APPROVED' | 'SUSPENDED';
  body: typeof schema.ChannelApproval | typeof schema.ChannelSuspension;
};

function approvalRoute({ clock, findProvider }: Deps, { path, approval, ...declared }: ApprovalRoute): Route {
  return operatorRoute(`POST /api/ops/merchants/:merchantId/channels/:channel/${path}`, {
    ...declared,
    action: `channel.${path}`,
    clock,
    params: schema.MerchantChannelParams,
    responses: { 200: schema.Channel },
    run: async ({ tx }, { params: { merchantId, channel }, body: { environment } }) => {
      const scope = { merchantId, environment };
      await readMerchant(tx.trx, merchantId);
      const before = await setChannelApproval(tx.trx, { ...scope, channel, approval });
      const channels = await listChannels(tx.trx, scope, findProvider);
      const found = channels.find((one) => one.channel === channel);
      if (!found) throw notFound('channel');
      const audit = {
        resourceType: 'channel',
        resourceId: channel,
        ...scope,
        before: { approval: before },
        after: { approval },
      } as const;
      return {
        message: `Channel ${channel} is ${approval}`,
        data: presentChannel(found),
        audit: before === approval ? null : audit,
      };
    },
  });
}

function limitRoutes({ db, clock }: Deps): Route[] {
  const path = '/api/ops/merchants/:merchantId/limits';
  return [
    operatorReadRoute(`GET ${path}`, {
      params: MerchantParams,
      operationId: 'opsGetLimits',
      summary: "Get a merchant's current and scheduled limits",
      responses: { 200: schema.LimitSchedule },
      handle: async ({ params: { merchantId } }) => {
        await readMerchant(db, merchantId);
        const schedule = await listLimitRules(db, merchantId, clock());
        return { message: 'Limits retrieved', data: presentSchedule(schedule, presentLimit) };
      },
    }),
    operatorRoute(`PUT ${path}`, {
      params: MerchantParams,
      operationId: 'opsChangeLimits',
      summary: "Add versions of a merchant's own limits, within those of the platform",
      action: 'merchant.change-limits',
      secondPerson: 'always',
      clock,
      body: schema.LimitChanges,
      responses: { 200: schema.LimitSchedule },
      run: async ({ tx: { trx }, at }, { params: { merchantId }, body }) => {
        await readMerchant(trx, merchantId);
        const { added, replaced, schedule } = await addRules(body.rules, {
          list: () => listLimitRules(trx, merchantId, at),
          add: ({ min, max, daily, ...rule }) => {
            const dailySantim = daily === null ? null : toSantim(daily);
            const limits = { minSantim: toSantim(min), maxSantim: toSantim(max), dailySantim };
            return addLimitRule(trx, { ...rule, ...limits, merchantId }, at);
          },
        });
        const audit = {
          resourceType: 'merchant',
          resourceId: merchantId,
          merchantId,
          before: { rules: replaced.map(presentLimit) },
          after: { rules: added.map(presentLimit) },
        } as const;
        const data = presentSchedule(schedule, presentLimit);
        return { message: 'Limits changed', data, audit: added.length > 0 ? audit : null };
      },
    }),
  ];
}

function presentLimit({ id, merchantId, channel, direction, validFrom, version, ...limits }: StoredLimitRule) {
  return {
    limitRuleId: id,
    own: merchantId !== null,
    direction,
    channel,
    ...presentLimits(limits),
    validFrom: validFrom.toISOString(),
    version,
  };
}
