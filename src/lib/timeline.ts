import { z } from 'zod';

import { rows, type Queryable } from './db.ts';
import { instant } from './fields.ts';

/** The kinds of entries in the timeline of an aggregate: what each records, and the shape of its `detail`. */
export type TimelineKinds = Readonly<Record<string, { description: string; detail: z.ZodObject }>>;

/** A kind of entry, for {@link TimelineKinds}. */
export const entry = (description: string, detail: z.ZodRawShape = {}) => ({
  description,
  detail: z.object(detail),
});

/** An entry as the API presents it. */
export type TimelineEntry = { at: string; kind: string; detail: Record<string, unknown> };

/** `actor`: key_…, opr_…, "sandbox" or "calendar"; null where the resource records no actors. Not in merchants' schemas. */
export type EntryWithActor = TimelineEntry & { actor: string | null };

type NewEntry<Kind> = { at: Date; kind: Kind; detail?: Record<string, unknown>; actor?: string };

/** The beginning of an INSERT, for statements that write an entry together with its change. */
export const TIMELINE_INSERT = 'INSERT INTO timeline (resource_id, occurred_at, kind, detail)';

/** Appends an entry, in the transaction of its change. */
export async function recordTimeline<Kind extends string>(
  trx: Queryable,
  resourceId: string,
  { at, kind, detail = {}, actor }: NewEntry<Kind>,
): Promise<void> {
  await rows(
    trx,
    `INSERT INTO timeline (resource_id, occurred_at, kind, actor, detail)
     VALUES (:resourceId, :at, :kind, :actor, CAST(:detail AS jsonb))`,
    { resourceId, at, kind, actor: actor ?? null, detail: JSON.stringify(detail) },
  );
}

/** The newest `limit` entries of a resource's timeline, all if null; oldest first. */
export async function readTimeline(
  db: Queryable,
  resourceId: string,
  limit: number | null = null,
): Promise<EntryWithActor[]> {
  const newest = await rows<Omit<EntryWithActor, 'at'> & { occurredAt: Date }>(
    db,
    `SELECT occurred_at, kind, actor, detail FROM timeline
     WHERE resource_id = :resourceId ORDER BY id DESC LIMIT CAST(:limit AS integer)`,
    { resourceId, limit },
  );
  return newest.toReversed().map(({ occurredAt, ...entry }) => ({ at: occurredAt.toISOString(), ...entry }));
}

/** The schema of a timeline with entries of these kinds. */
export function timelineSchema(kinds: TimelineKinds) {
  const entries = Object.entries(kinds).map(([kind, { description, detail }]) =>
    z.object({ at: instant, kind: z.literal(kind), detail }).meta({ description }),
  );
  return z.array(z.discriminatedUnion('kind', entries as [(typeof entries)[number], ...typeof entries]));
}
