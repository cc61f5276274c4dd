-- Workflows of deliveries that succeeded at their first attempt, which wait to be started (docs/adr/0009). The statement
-- that records the attempt writes the row; whoever has started the workflow deletes it. Earlier releases wrote these as
-- rows of priority 3 into the outbox, and dropped them after a minute: what is left of them is sent from there.
CREATE TABLE webhook_workflow_start (
  delivery_id  text PRIMARY KEY,                   -- whd_…, ordered by time
  input        jsonb NOT NULL,                     -- the workflow's argument: ids, numbers and names
  traceparent  text CHECK (length(traceparent) = 55),
  lease_until  timestamptz,                        -- being started by a worker until then
  created_at   timestamptz NOT NULL DEFAULT now()
-- It may have a million live rows, so unlike the outbox's its upkeep depends on its size. Leases are updated in place. It
-- keeps the file's length, as the outbox does.
) WITH (fillfactor = 90, autovacuum_vacuum_threshold = 1000, vacuum_truncate = false);
