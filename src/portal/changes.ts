import { rows, type Queryable } from '../lib/db.ts';
import type { MerchantScope } from '../lib/scope.ts';
import { WORST_FIRST, type EventStatus } from '../webhooks/delivery/states.ts';

/** The resources whose changes people see at once, and the scope that a role needs for each. */
export const CHANGE_SCOPES = {
  transaction: 'transactions:read',
  withdrawal: 'withdrawals:read',
  settlement: 'settlements:read',
  event: 'webhooks:read',
} as const;
export type ChangeKind = keyof typeof CHANGE_SCOPES;

/** A resource that has changed, with its present status. */
export type Change = MerchantScope & { kind: ChangeKind; id: string; status: string; at: Date };

/** An id below the newest one may be of a transaction that is not committed yet, or was rolled back. */
const GAP_KEPT_MS = 15_000;
const GAPS_MAX = 10_000;
const ENTRIES_MAX = 2_000;
/** How long the deliveries of a new event are watched. Later retries are minutes apart. */
const DELIVERIES_WATCHED_MS = 60_000;
const WATCHED_MAX = 1_000;

type Entry = { id: bigint; resourceId: string };
type Watched = { state: string; until: number };

/**
 * Reads what has changed since the last call, of some merchants or of all. Every change of a resource adds an entry to the timeline in
 * its own transaction, with ids of one sequence; the events about it are in the same transaction. Nothing is added to any
 * transaction for this (docs/adr/0012).
 */
export function createChangeReader(db: Queryable) {
  let newest: bigint | null = null;
  const gaps = new Map<bigint, number>();
  const watched = new Map<string, Watched>();

  const begin = async (): Promise<void> => {
    const [last] = await rows<{ id: bigint }>(db, 'SELECT coalesce(max(id), 0) AS id FROM timeline');
    newest = last?.id ?? 0n;
    gaps.clear();
    watched.clear();
  };

  const readResources = async (): Promise<string[]> => {
    const values = { newest, gaps: [...gaps.keys()].map(String) };
    const entries = await rows<Entry>(db, NEW_ENTRIES, values);
    const now = performance.now();
    for (const { id } of entries) {
      for (let gap = (newest ?? id) + 1n; gap < id && gaps.size < GAPS_MAX; gap += 1n) gaps.set(gap, now);
      gaps.delete(id);
      if (newest === null || id > newest) newest = id;
    }
    for (const [id, since] of gaps) if (now - since > GAP_KEPT_MS) gaps.delete(id);
    return [...new Set(entries.map(({ resourceId }) => resourceId))];
  };

  /** Leaves out events whose state is unchanged, and watches those whose deliveries are not final. */
  const isNews = ({ kind, id, state }: Change & { state: string }): boolean => {
    if (kind !== 'event') return true;
    const now = performance.now();
    const known = watched.get(id);
    const isFinal = !/PENDING|RETRYING/.test(state);
    const until = known?.until ?? now + DELIVERIES_WATCHED_MS;
    if (isFinal || until < now) watched.delete(id);
    else if (known !== undefined || watched.size < WATCHED_MAX) watched.set(id, { state, until });
    return known?.state !== state;
  };

  return {
    /** Forgets what came before. */
    begin,
    /** `merchantIds`: null for all merchants. */
    read: async (merchantIds: readonly string[] | null): Promise<Change[]> => {
      if (newest === null) await begin();
      const ids = await readResources();
      if (ids.length === 0 && watched.size === 0) return [];
      const values = { ids, merchantIds, events: [...watched.keys()] };
      const found = await rows<Change & { state: string }>(db, CHANGED, values);
      return found.filter(isNews).map(({ state: _state, ...change }) => change);
    },
  };
}

/** In two parts: for one condition with OR the planner reads the whole table. */
const NEW_ENTRIES = `
  (SELECT id, resource_id FROM timeline WHERE id = ANY(CAST(:gaps AS bigint[])))
  UNION ALL
  (SELECT id, resource_id FROM timeline WHERE id > :newest ORDER BY id LIMIT ${ENTRIES_MAX})`;

const STATE = `CAST(string_agg(d.status || d.attempts, ' ' ORDER BY d.id) AS text)`;
const NO_SUBSCRIBERS: EventStatus = 'NO_SUBSCRIBERS';
const WORST = `(array_agg(d.status ORDER BY array_position(ARRAY[${WORST_FIRST.map((one) => `'${one}'`).join(', ')}], d.status)))[1]`;

const OF_MERCHANTS = `(CAST(:merchantIds AS text[]) IS NULL OR merchant_id = ANY(CAST(:merchantIds AS text[])))`;

const resource = (kind: Exclude<ChangeKind, 'event'>, rows: string = kind): string =>
  `SELECT '${kind}' AS kind, id, merchant_id, environment, status, '' AS state, now() AS at FROM ${rows}
   WHERE id = ANY(:ids) AND ${OF_MERCHANTS}`;

/** The events of refunds are about these; their entries are in the timeline of their transaction. */
const ABOUT =
  'ARRAY(SELECT unnest(CAST(:ids AS text[])) UNION ALL SELECT id FROM payout WHERE transaction_id = ANY(:ids))';

/** The present state of resources, of the newest events about them, and of events by their ids. */
const CHANGED = `
  ${resource('transaction')} UNION ALL ${resource('withdrawal', `(SELECT * FROM payout WHERE kind = 'withdrawal')`)} UNION ALL ${resource('settlement')} UNION ALL
  SELECT 'event', e.id, e.merchant_id, e.environment, coalesce(d.status, '${NO_SUBSCRIBERS}'), coalesce(d.state, ''), now()
  FROM (
    SELECT id, merchant_id, environment FROM webhook_event WHERE id = ANY(:events)
    UNION
    SELECT id, merchant_id, environment FROM webhook_event
    WHERE resource_id = ANY(${ABOUT}) AND created_at > now() - interval '1 minute' AND ${OF_MERCHANTS}
  ) e
  LEFT JOIN LATERAL (SELECT ${WORST} AS status, ${STATE} AS state FROM webhook_delivery d WHERE d.event_id = e.id) d ON true`;
