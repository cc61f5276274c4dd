-- What Temporal must be told, written in the transaction that makes it true (docs/adr/0002). A row is free when its
-- lease has run out and not_before has come; whoever dispatches it deletes it.
CREATE TABLE outbox (
  id             text PRIMARY KEY,                 -- obx_…, ordered by time
  kind           text NOT NULL CHECK (kind IN ('start', 'signal', 'signalWithStart')),
  workflow_type  text NOT NULL,                    -- webhookDelivery, payment …
  workflow_id    text NOT NULL,
  input          jsonb,                            -- the workflow's argument (start, signalWithStart)
  signal         text,                             -- its name (signal, signalWithStart)
  delivery_id    text,                             -- of a delivery whose first attempt may still be made directly
  subscription_id text,
  lease_until    timestamptz,
  not_before     timestamptz NOT NULL DEFAULT now(),
  failures       integer NOT NULL DEFAULT 0,       -- dispatches that failed: sets the back-off
  created_at     timestamptz NOT NULL DEFAULT now(),
  CHECK ((kind = 'start') = (signal IS NULL))
);
CREATE INDEX outbox_due ON outbox (not_before);
CREATE INDEX outbox_workflow ON outbox (workflow_id);
