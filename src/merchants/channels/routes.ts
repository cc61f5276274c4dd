import { z } from 'zod';

import { changedFields } from '../../http/audit.ts';
import { readRoute, writeRoute, type Route } from '../../http/route.ts';
import type { Database } from '../../lib/db.ts';
import { scopeOf } from '../../lib/scope.ts';
import type { FindConfigured } from './channel.ts';
import { switchChannel } from './operations.ts';
import { listChannels, presentChannel, type MerchantChannel } from './queries.ts';
import * as schema from './schema.ts';

/** The channels of the caller's merchant and environment, and their toggle. */
export function channelRoutes(deps: { db: Database; findProvider: FindConfigured }): Route[] {
  return [
    readRoute('GET /api/checkout/channels', {
      operationId: 'listChannels',
      tag: 'Channels',
      summary: 'Payment channels, whether they can be used, and their limits',
      auth: { by: 'key', scope: 'channels:read' },
      responses: { 200: z.array(schema.Channel) },
      handle: async ({ caller }) => {
        const channels = await listChannels(deps.db, caller, deps.findProvider);
        return { message: 'Channels retrieved', data: channels.map(presentChannel) };
      },
    }),
    writeRoute('PATCH /api/checkout/channels/:channel', {
      operationId: 'switchChannel',
      audit: 'channel.switch',
      tag: 'Channels',
      summary: 'Switch a channel on or off for new payments, or request one',
      description:
        'Switching on a channel that the platform has not approved for you requests it: 202, and approval is REQUESTED until an operator approves it (APPROVED); then switch it on. Switching it off cancels the request. In the sandbox it is approved and on at once.',
      auth: { by: 'key', scope: 'channels:write' },
      params: schema.ChannelParams,
      body: schema.ChannelChanges,
      responses: { 200: schema.Channel, 202: schema.Channel },
      errors: ['CHANNEL_NOT_AVAILABLE'],
      handle: async ({ caller, tx, params, body }) => {
        const input = { ...scopeOf(caller), channel: params.channel, enabled: body.enabled };
        const { before, after: channel } = await switchChannel({ tx, findProvider: deps.findProvider }, input);
        const data = presentChannel(channel);
        const audit = changedFields(auditedOf(before), auditedOf(channel));
        if (channel.approval === 'REQUESTED') {
          const message = `Channel ${channel.channel} is requested: once it is APPROVED, switch it on`;
          return { status: 202, message, data, audit };
        }
        return { message: `Channel ${channel.channel} is ${channel.enabled ? 'on' : 'off'}`, data, audit };
      },
    }),
  ];
}

const auditedOf = ({ enabled, approval }: MerchantChannel) => ({ enabled, approval });
