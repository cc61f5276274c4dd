-- no transaction

-- First attempts that wait, a subscription's oldest first. A resend (resend_from) belongs to the delivery's workflow.
DROP INDEX CONCURRENTLY IF EXISTS webhook_delivery_queue;
CREATE INDEX CONCURRENTLY webhook_delivery_queue ON webhook_delivery (subscription_id, id) WHERE status = 'PENDING' AND resend_from IS NULL;
-- What only a workflow brings forward: recovery and metrics look for what is past due here.
DROP INDEX CONCURRENTLY IF EXISTS webhook_delivery_scheduled;
CREATE INDEX CONCURRENTLY webhook_delivery_scheduled ON webhook_delivery (next_attempt_at) WHERE status = 'RETRYING' OR resend_from IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS webhook_delivery_due;
DROP INDEX CONCURRENTLY IF EXISTS webhook_delivery_open;
-- For a subscription's health. Without what waits: it must not look like another way to the queue.
DROP INDEX CONCURRENTLY IF EXISTS webhook_delivery_subscription;
CREATE INDEX CONCURRENTLY webhook_delivery_subscription ON webhook_delivery (subscription_id, created_at DESC) WHERE status <> 'PENDING';

-- The sweep of the outbox takes by priority, then by due time.
DROP INDEX CONCURRENTLY IF EXISTS outbox_due;
CREATE INDEX CONCURRENTLY outbox_due ON outbox (priority, not_before);
