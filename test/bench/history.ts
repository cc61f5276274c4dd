/** The transactions of the merchant whose list is read, over the last 28 days. */
export const TRANSACTIONS = 5_000;
const TRANSACTIONS_DAYS = 28;
/** Events delivered earlier, as in any installation after a while. */
export const DELIVERED_BEFORE = 30_000;

/** The tables of the baseline and its copy of the receivers. */
export const BASELINE_TABLES = [
  `CREATE TABLE baseline_subscription (id integer PRIMARY KEY, url text NOT NULL, secret text NOT NULL)`,
  `CREATE TABLE baseline_event (
     id text PRIMARY KEY, event text NOT NULL, payload text NOT NULL, created_at timestamptz NOT NULL)`,
  `CREATE TABLE baseline_delivery (
     event_id text PRIMARY KEY, subscription_id integer NOT NULL, status text NOT NULL, http_status integer,
     in_flight_since timestamptz, created_at timestamptz NOT NULL, delivered_at timestamptz) WITH (fillfactor = 70)`,
  `CREATE INDEX baseline_delivery_open ON baseline_delivery (event_id) WHERE status = 'PENDING'`,
  `CREATE TABLE baseline_session (
     id text PRIMARY KEY, checkout_order_no text NOT NULL, amount_santim bigint NOT NULL,
     status text NOT NULL DEFAULT 'OPEN', created_at timestamptz NOT NULL)`,
  `CREATE TABLE baseline_payment (
     id text PRIMARY KEY, session_id text NOT NULL, phone text NOT NULL, amount_santim bigint NOT NULL,
     status text NOT NULL, reference text, created_at timestamptz NOT NULL, paid_at timestamptz)`,
  `CREATE TABLE baseline_journal (id text PRIMARY KEY, payment_id text NOT NULL UNIQUE, created_at timestamptz NOT NULL)`,
  `CREATE TABLE baseline_entry (
     journal_id text NOT NULL, position integer NOT NULL, amount_santim bigint NOT NULL, PRIMARY KEY (journal_id, position))`,
  `CREATE TABLE baseline_balance (available_santim bigint NOT NULL)`,
  `INSERT INTO baseline_balance VALUES (0)`,
  `GRANT SELECT, INSERT, UPDATE ON baseline_subscription, baseline_event, baseline_delivery, baseline_session,
     baseline_payment, baseline_journal, baseline_entry, baseline_balance TO meskot_app`,
];

/** Transactions, evenly over the last days. */
export const pastTransactions = (
  merchantId: string,
  { count, days } = { count: TRANSACTIONS, days: TRANSACTIONS_DAYS },
): string => `
  INSERT INTO transaction (id, session_id, merchant_id, environment, checkout_order_no, amount_santim, currency, type,
    status, channel, provider_reference, failure, customer_name, customer_email, customer_phone, metadata,
    created_at, completed_at)
  SELECT 'txn_' || lpad(upper(to_hex(n)), 26, '0'), 'cs_' || lpad(upper(to_hex(n)), 26, '0'), '${merchantId}', 'sandbox',
    'ORDER-' || n, 1000 + n * 7, 'ETB', CASE WHEN n % 5 = 0 THEN 'QRCODE' ELSE 'API' END,
    CASE WHEN n % 7 > 0 THEN 'SUCCESS' ELSE 'FAILED' END,
    CASE n % 3 WHEN 0 THEN 'TELEBIRR' WHEN 1 THEN 'AWASH' ELSE 'CBE_BIRR' END, 'REF' || n,
    CASE WHEN n % 7 = 0 THEN jsonb_build_object('code', 'DECLINED', 'message', 'The customer declined.',
      'providerCode', 'PAY_FAILED', 'retryable', false) END,
    'Abebe Kebede', 'abebe' || n || '@example.com', '09' || lpad(CAST(n AS text), 8, '1'),
    CASE WHEN n % 2 = 0 THEN jsonb_build_object('item', 'Macchiato', 'quantity', '2') END,
    now() - n * (interval '${days} days' / ${count}),
    CASE WHEN n % 7 > 0 THEN now() - n * (interval '${days} days' / ${count}) + interval '40 seconds' END
  FROM generate_series(1, ${count}) AS n`;

/** Delivered events of our tables and the baseline's. */
export const pastDeliveries = (merchantId: string): string => `
  WITH past AS (
    SELECT lpad(upper(to_hex(n)), 26, '0') AS key, now() - n * interval '1 minute' AS at
    FROM generate_series(1, ${DELIVERED_BEFORE}) AS n
  ), subscription AS (
    INSERT INTO webhook_subscription (id, merchant_id, environment, url, event_types, active, secret, secret_hint)
    VALUES ('whs_' || repeat('0', 26), '${merchantId}', 'sandbox', 'https://hooks.example.com', '{}', false, '', '')
  ), event AS (
    INSERT INTO webhook_event (id, merchant_id, environment, event, api_version, resource_type, resource_id, payload, created_at)
    SELECT 'evt_' || key, '${merchantId}', 'sandbox', 'payment.succeeded', 'v1.0', 'transaction', 'txn_' || key,
      convert_to(repeat('a payload ', 50), 'UTF8'), at FROM past
  ), delivery AS (
    INSERT INTO webhook_delivery (id, event_id, subscription_id, merchant_id, environment, event, status, attempts,
      last_attempt_at, last_http_status, delivered_at, created_at)
    SELECT 'whd_' || key, 'evt_' || key, 'whs_' || repeat('0', 26), '${merchantId}', 'sandbox', 'payment.succeeded',
      'DELIVERED', 1, at, 200, at, at FROM past
  ), attempt AS (
    INSERT INTO webhook_attempt (id, delivery_id, sequence, delivery_number, retry_number, source, url, secret_hint,
      started_at, ended_at, duration_ms, http_status, timings, response_headers, response_excerpt, created_at)
    SELECT 'wha_' || key, 'whd_' || key, 1, 1, 0, 'auto', 'https://hooks.example.com', '',
      at, at, 20, 200, '{}', '{}', 'ok', at FROM past
  ), baseline_event AS (
    INSERT INTO baseline_event (id, event, payload, created_at)
    SELECT 'evt_' || key, 'payment.succeeded', repeat('a payload ', 50), at FROM past
  )
  INSERT INTO baseline_delivery (event_id, subscription_id, status, http_status, created_at, delivered_at)
  SELECT 'evt_' || key, 0, 'DELIVERED', 200, at, at FROM past`;

/**
 * Leaves statistics gathered on one live row of each hot table, with the dead rows of the last burst: the input of
 * PostgreSQL's planner if a queue was empty during ANALYZE.
 */
export const ONE_LIVE_ROW = [
  'DELETE FROM webhook_attempt',
  'DELETE FROM webhook_delivery WHERE id <> (SELECT max(id) FROM webhook_delivery)',
  'DELETE FROM webhook_event WHERE id NOT IN (SELECT event_id FROM webhook_delivery)',
  'DELETE FROM baseline_delivery WHERE event_id <> (SELECT max(event_id) FROM baseline_delivery)',
  'DELETE FROM baseline_event WHERE id NOT IN (SELECT event_id FROM baseline_delivery)',
  "DELETE FROM outbox WHERE id LIKE 'obx_bench_%'",
  `INSERT INTO outbox (id, kind, workflow_type, workflow_id, available_at)
   SELECT 'obx_bench_' || n, 'start', 'payment', 'bench-' || n, now() + interval '1 day' FROM generate_series(0, 2000) AS n`,
  "DELETE FROM outbox WHERE id LIKE 'obx_bench_%' AND id <> 'obx_bench_0'",
  'ANALYZE webhook_attempt, webhook_delivery, webhook_event, webhook_subscription, outbox, baseline_delivery, baseline_event',
];
