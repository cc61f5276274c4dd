import { z } from 'zod';

import { operatorReadRoute } from '../access/operator-route.ts';
import { environment } from '../access/operator-schema.ts';
import type { Route } from '../http/route.ts';
import { createCache } from '../lib/cache.ts';
import { rows, type Database } from '../lib/db.ts';
import { instant } from '../lib/fields.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';
import type { WorkItemSource } from '../outbox/work-items.ts';
import { RECONCILIATION_STATUSES } from '../reconciliation/states.ts';
import { readDeliveryFigures } from '../webhooks/delivery/metrics.ts';
import { REVIEW_ITEMS, STALLED_ITEMS } from './work-queue.ts';

const CACHED_MS = 5_000;

const ItemCount = z.object({
  kind: z.string(),
  environment: environment.nullable().describe('null: of both'),
  count: z.int(),
  oldestAt: instant,
});

export const Overview = z
  .object({
    at: instant.describe(`When it was counted, at most ${CACHED_MS / 1_000} s ago`),
    queue: z.array(ItemCount).describe('What needs an operator, by kind; a kind without items is missing'),
    stalled: z.array(ItemCount).describe('What is overdue, by kind'),
    deliveries: z.object({
      open: z.int().describe('Deliveries that are not final'),
      deadLetters: z.int(),
      pastDueSeconds: z.number().describe('How late the most overdue attempt is'),
    }),
    outbox: z.object({ rows: z.int(), oldestSeconds: z.number() }).describe('Messages that wait for Temporal'),
    channels: z.array(
      z.object({
        channel: z.enum(CHANNELS),
        state: z.enum(['AVAILABLE', 'COMING_SOON', 'MAINTENANCE']),
        unavailableUntil: instant
          .nullable()
          .describe('The circuit of the live provider is open until then, because its calls failed; null: closed'),
      }),
    ),
    reconciliation: z
      .array(
        z.object({
          environment,
          channel: z.enum(CHANNELS),
          day: z.string(),
          status: z.enum(RECONCILIATION_STATUSES),
          comparedAt: instant.nullable(),
        }),
      )
      .describe('The latest day of each channel'),
  })
  .meta({ id: 'OpsOverview' });

const countItems = async (db: Database, { sql }: WorkItemSource, at: Date) =>
  rows<z.input<typeof ItemCount>>(
    db,
    `SELECT kind, environment, count(*)::int AS count, min(since) AS oldest_at
     FROM (${sql}) item GROUP BY kind, environment ORDER BY kind, environment`,
    { at },
  );

const CIRCUITS = `
  SELECT id AS channel, platform_state AS state,
         CASE WHEN live_unavailable_until > now() THEN live_unavailable_until END AS unavailable_until
  FROM channel ORDER BY position`;

const LATEST_DAYS = `
  SELECT DISTINCT ON (environment, channel) environment, channel, day, status, compared_at
  FROM reconciliation ORDER BY environment, channel, day DESC`;

/** What the platform's state is now. Each statement reads indexes of what is open, or small tables. */
async function readOverview(db: Database, at: Date): Promise<z.input<typeof Overview>> {
  type Parts = z.input<typeof Overview>;
  const [queue, stalled, figures, channels, reconciliation] = await Promise.all([
    countItems(db, REVIEW_ITEMS, at),
    countItems(db, STALLED_ITEMS, at),
    readDeliveryFigures(db),
    rows<Parts['channels'][number]>(db, CIRCUITS),
    rows<Parts['reconciliation'][number]>(db, LATEST_DAYS),
  ]);
  const { outboxRows, outboxSeconds: oldestSeconds, ...deliveries } = figures;
  return { at, queue, stalled, deliveries, outbox: { rows: outboxRows, oldestSeconds }, channels, reconciliation };
}

/** The state of the platform on one page. */
export function overviewRoutes({ db }: { db: Database }): Route[] {
  // One count for all operators who look at the same time.
  const cached = createCache(async () => readOverview(db, new Date()), { ttlMs: CACHED_MS, entriesMax: 1 });
  return [
    operatorReadRoute('GET /api/ops/overview', {
      operationId: 'opsGetOverview',
      cli: 'work overview',
      summary: 'Count what needs an operator, what is stalled, and what does not respond',
      description: `Counted at most once in ${CACHED_MS / 1_000} s by each process.`,
      responses: { 200: Overview },
      handle: async ({ at }) => ({ message: 'Overview retrieved', data: await cached('overview', at.getTime()) }),
    }),
  ];
}
