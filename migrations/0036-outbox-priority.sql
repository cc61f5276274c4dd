-- What goes to Temporal first when much is waiting: 0 money that goes out, 1 deliveries that failed, 2 the rest,
-- 3 deliveries that have been made and are only shown.
ALTER TABLE outbox ADD COLUMN priority smallint NOT NULL DEFAULT 2 CHECK (priority BETWEEN 0 AND 3);
