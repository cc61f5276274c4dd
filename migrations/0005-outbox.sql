-- Workflow starts and signals, written in the transaction of the change that causes them (docs/adr/0002). A row can be
-- claimed once its lease has run out and available_at has passed. The process that dispatches a row deletes it.
CREATE TABLE outbox (
  id             text PRIMARY KEY,                 -- obx_…, ordered by time
  kind           text NOT NULL CHECK (kind IN ('start', 'signal', 'signalWithStart')),
  workflow_type  text NOT NULL,                    -- webhookDelivery, payment …
  workflow_id    text NOT NULL,
  input          jsonb,                            -- the workflow's argument (start, signalWithStart)
  signal         text,                             -- the signal's name (signal, signalWithStart)
  -- The order after an absence of Temporal: 0 outgoing money, 1 failed deliveries, 2 the rest, 3 deliveries that are
  -- complete and only recorded in a workflow.
  priority       smallint NOT NULL DEFAULT 2 CHECK (priority BETWEEN 0 AND 3),
  lease_until    timestamptz,
  available_at   timestamptz NOT NULL DEFAULT now(),
  failures       integer NOT NULL DEFAULT 0,       -- failed dispatches: determines the back-off
  created_at     timestamptz NOT NULL DEFAULT now(),
  CHECK ((kind = 'start') = (signal IS NULL))
-- A queue is nearly empty but full of dead rows, so vacuum must depend on their number and not on the table's size. It
-- keeps the file's length: reading a file of no pages costs nothing, so prepared statements that are planned then read
-- the whole table until the next ANALYZE, also when a burst has filled it.
) WITH (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, vacuum_truncate = false
);
CREATE INDEX outbox_due ON outbox (priority, available_at);
CREATE INDEX outbox_workflow ON outbox (workflow_id);

-- The schedule of the comparison between open rows and Temporal's workflows. The single row is also the lock: the
-- worker that runs the comparison moves next_run_at into the future first.
CREATE TABLE workflow_recovery (
  id                boolean PRIMARY KEY DEFAULT true CHECK (id),
  next_run_at       timestamptz NOT NULL DEFAULT now(),
  next_full_run_at  timestamptz NOT NULL DEFAULT now(), -- of all open rows, not only the overdue ones
  created_at        timestamptz NOT NULL DEFAULT now()
);
INSERT INTO workflow_recovery DEFAULT VALUES;
