-- no transaction
-- What a merchant looks for among many deliveries, and a bulk resend: those that were not delivered.
DROP INDEX CONCURRENTLY IF EXISTS webhook_delivery_undelivered;
CREATE INDEX CONCURRENTLY webhook_delivery_undelivered ON webhook_delivery (merchant_id, environment, created_at)
  WHERE status IN ('FAILED', 'SKIPPED');
