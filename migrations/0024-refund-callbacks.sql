-- no transaction
-- The callbacks of a refund.
DROP INDEX CONCURRENTLY IF EXISTS provider_callback_refund;
CREATE INDEX CONCURRENTLY provider_callback_refund ON provider_callback (refund_id, id) WHERE refund_id IS NOT NULL;
