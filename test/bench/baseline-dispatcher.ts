import { setTimeout as sleep } from 'node:timers/promises';

import type pg from 'pg';

export type Claimed = { event_id: string; payload: string; url: string; secret: string };

const CLAIM_MAX = 100;
const IN_FLIGHT_MAX = 200;
/** The interval of the search for deliveries that a killed process had in flight. */
const LOOK_EVERY_MS = 1_000;
const AGAIN_MS = 200;

const CLAIM = `
  UPDATE baseline_delivery d SET in_flight_since = clock_timestamp()
  FROM baseline_event e, baseline_subscription s
  WHERE d.event_id = ANY (ARRAY(
      SELECT event_id FROM baseline_delivery
      WHERE status = 'PENDING' AND (in_flight_since IS NULL OR in_flight_since < now() - interval '6 seconds')
      ORDER BY event_id LIMIT $1 FOR UPDATE SKIP LOCKED))
    AND e.id = d.event_id AND s.id = d.subscription_id
  RETURNING d.event_id, e.payload, s.url, s.secret`;

const RECORD = `
  UPDATE baseline_delivery d
  SET status = CASE WHEN o.http_status BETWEEN 200 AND 299 THEN 'DELIVERED' ELSE 'FAILED' END,
      http_status = o.http_status, delivered_at = now(), in_flight_since = NULL
  FROM unnest($1::text[], $2::integer[]) AS o (event_id, http_status)
  WHERE d.event_id = o.event_id`;

/**
 * Claims pending deliveries, sends them and records the outcomes: those that end during a recording are recorded
 * together.
 */
export function createBaselineDispatcher(deps: { database: pg.Pool; send: (claimed: Claimed) => Promise<number> }) {
  const { database, send } = deps;
  let inFlight = 0;
  let isClaiming = false;
  let isSignalled = false;
  let ended: { eventId: string; httpStatus: number }[] = [];
  let isRecording = false;

  const record = async (): Promise<void> => {
    if (isRecording) return;
    isRecording = true;
    while (ended.length > 0) {
      const outcomes = ended;
      ended = [];
      const values = [outcomes.map(({ eventId }) => eventId), outcomes.map(({ httpStatus }) => httpStatus)];
      await database.query({ name: 'record', text: RECORD, values }).catch(async () => {
        ended = [...outcomes, ...ended];
        await sleep(AGAIN_MS);
      });
    }
    isRecording = false;
  };
  const deliver = async (claimed: Claimed): Promise<void> => {
    inFlight += 1;
    const httpStatus = await send(claimed).catch(() => 0);
    inFlight -= 1;
    ended.push({ eventId: claimed.event_id, httpStatus });
    if (isSignalled) void claim();
    await record();
  };
  const claim = async (): Promise<void> => {
    isSignalled = true;
    if (isClaiming) return;
    isClaiming = true;
    while (isSignalled && inFlight < IN_FLIGHT_MAX) {
      isSignalled = false;
      const values = [Math.min(CLAIM_MAX, IN_FLIGHT_MAX - inFlight)];
      const claiming = database.query<Claimed>({ name: 'claim', text: CLAIM, values });
      const rows = await claiming.then(
        (result) => result.rows,
        () => [],
      );
      for (const claimed of rows) void deliver(claimed);
      if (rows.length === values[0]) isSignalled = true;
    }
    isClaiming = false;
  };
  setInterval(() => void claim(), LOOK_EVERY_MS);
  return { wake: () => void claim() };
}
