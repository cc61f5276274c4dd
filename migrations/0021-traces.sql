-- The request that caused a message or a delivery, as W3C traceparent, where traces are exported (OTEL_EXPORTER_OTLP_ENDPOINT).
ALTER TABLE outbox ADD COLUMN traceparent text CHECK (length(traceparent) = 55);
ALTER TABLE webhook_delivery ADD COLUMN traceparent text CHECK (length(traceparent) = 55);
