-- no transaction

-- What only a workflow brings forward, by subscription: recovery and metrics look at the first of each, and a
-- subscription that is deleted finds its own.
DROP INDEX CONCURRENTLY IF EXISTS webhook_delivery_workflows;
CREATE INDEX CONCURRENTLY webhook_delivery_workflows ON webhook_delivery (subscription_id, next_attempt_at) WHERE status = 'RETRYING' OR resend_from IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS webhook_delivery_scheduled;
