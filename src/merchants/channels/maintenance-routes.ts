import { operatorListRoute, operatorRoute } from '../../access/operator-route.ts';
import { OptionalReason } from '../../access/operator-schema.ts';
import type { Route } from '../../http/route.ts';
import type { Database } from '../../lib/db.ts';
import { cancelMaintenance, listMaintenance, planMaintenance, presentMaintenance } from './maintenance.ts';
import * as schema from './schema.ts';

/** Maintenance windows of channels, for all merchants of an environment. */
export function maintenanceRoutes({ db }: { db: Database }): Route[] {
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
