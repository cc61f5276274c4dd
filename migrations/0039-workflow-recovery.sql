-- When open rows are compared with Temporal's workflows next, by one worker at a time: it puts next_run_at off while it
-- does. One row.
CREATE TABLE workflow_recovery (
  id                boolean PRIMARY KEY DEFAULT true CHECK (id),
  next_run_at       timestamptz NOT NULL DEFAULT now(),
  next_full_run_at  timestamptz NOT NULL DEFAULT now(), -- of all open rows, not only what is past due
  created_at        timestamptz NOT NULL DEFAULT now()
);
INSERT INTO workflow_recovery DEFAULT VALUES;
