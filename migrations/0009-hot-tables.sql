-- What every delivery writes. Updates that touch no index stay on their page, where there is room for them.
ALTER TABLE webhook_delivery SET (fillfactor = 70);
ALTER TABLE webhook_attempt SET (fillfactor = 70);

-- A queue: nearly always empty, and full of dead rows.
ALTER TABLE outbox SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
CREATE INDEX outbox_delivery ON outbox (delivery_id) WHERE delivery_id IS NOT NULL;

-- Merchants and subscriptions are never deleted, and events are written by whoever has just read both: the check
-- protects nothing, and locking one merchant's row for each of its events costs more than writing them.
ALTER TABLE webhook_event DROP CONSTRAINT webhook_event_merchant_id_fkey;
ALTER TABLE webhook_delivery DROP CONSTRAINT webhook_delivery_merchant_id_fkey;
ALTER TABLE webhook_delivery DROP CONSTRAINT webhook_delivery_subscription_id_fkey;
