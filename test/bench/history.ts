import { readConfig } from '../../src/config.ts';
import { createKey } from '../../src/keys/operations.ts';
import type { Knex } from '../../src/lib/db.ts';
import { createMerchant } from '../../src/merchants/operations.ts';
import { asOwner, type Ground } from './ground.ts';

/** Of the merchant whose list is read, over the last 30 days. */
export const TRANSACTIONS = 5_000;
/** Events delivered earlier, which every installation soon has: on empty tables PostgreSQL plans for empty tables. */
export const DELIVERED_BEFORE = 30_000;

/** A merchant with a key and a past, and the twin's tables with the same past. */
export async function seedHistory(ground: Ground, db: Knex): Promise<{ merchantId: string; key: string }> {
  const { KEY_PEPPER: pepper } = readConfig({ DATABASE_URL: ground.databaseUrl, TEMPORAL_ADDRESS: 'unused' });
  await asOwner(ground.ownerUrl, ...TWIN_TABLES);
  const made = await db.transaction(async (trx) => {
    const merchant = await createMerchant(trx, { name: 'Abyssinia Coffee' });
    const owner = { merchantId: merchant.id, environment: 'sandbox' } as const;
    const { secret } = await createKey({ trx, pepper, clock: () => new Date() }, { ...owner, kind: 'secret' });
    return { merchantId: merchant.id, key: secret };
  });
  const { merchantId } = made;
  await asOwner(ground.ownerUrl, pastTransactions(merchantId), pastDeliveries(merchantId), 'VACUUM ANALYZE');
  return made;
}

const TWIN_TABLES = [
  `CREATE TABLE twin_event (
     id text PRIMARY KEY, event text NOT NULL, payload text NOT NULL, created_at timestamptz NOT NULL)`,
  `CREATE TABLE twin_delivery (
     event_id text PRIMARY KEY REFERENCES twin_event, status text NOT NULL, http_status integer,
     created_at timestamptz NOT NULL, delivered_at timestamptz)`,
  `CREATE INDEX twin_delivery_open ON twin_delivery (event_id) WHERE status = 'PENDING'`,
  'GRANT SELECT, INSERT, UPDATE ON twin_event, twin_delivery TO meskot_app',
];

const pastTransactions = (merchantId: string): string => `
  INSERT INTO transaction (id, session_id, merchant_id, environment, checkout_order_no, amount_santim, currency, type,
    status, channel, provider_reference, failure, customer_name, customer_email, customer_phone, metadata,
    created_at, completed_at)
  SELECT 'txn_' || lpad(upper(to_hex(n)), 26, '0'), 'cs_' || lpad(upper(to_hex(n)), 26, '0'), '${merchantId}', 'sandbox',
    'ORDER-' || n, 1000 + n * 7, 'ETB', CASE WHEN n % 5 = 0 THEN 'QRCODE' ELSE 'API' END,
    CASE WHEN n % 7 > 0 THEN 'SUCCESS' ELSE 'FAILED' END,
    CASE n % 3 WHEN 0 THEN 'TELEBIRR' WHEN 1 THEN 'AWASH' ELSE 'CBE_BIRR' END, 'REF' || n,
    CASE WHEN n % 7 = 0 THEN jsonb_build_object('code', 'DECLINED', 'message', 'The customer said no.',
      'providerCode', 'PAY_FAILED', 'retryable', false) END,
    'Abebe Kebede', 'abebe' || n || '@example.com', '09110' || lpad(CAST(n AS text), 5, '0'),
    CASE WHEN n % 2 = 0 THEN jsonb_build_object('item', 'Macchiato', 'quantity', '2') END,
    now() - n * interval '8 minutes',
    CASE WHEN n % 7 > 0 THEN now() - n * interval '8 minutes' + interval '40 seconds' END
  FROM generate_series(1, ${TRANSACTIONS}) AS n`;

const pastDeliveries = (merchantId: string): string => `
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
    INSERT INTO webhook_attempt (id, delivery_id, sequence, delivery_number, retry_number, trigger, url, secret_hint,
      started_at, ended_at, duration_ms, http_status, timings, response_headers, response_excerpt, created_at)
    SELECT 'wha_' || key, 'whd_' || key, 1, 1, 0, 'auto', 'https://hooks.example.com', '',
      at, at, 20, 200, '{}', '{}', 'ok', at FROM past
  ), twin_event AS (
    INSERT INTO twin_event (id, event, payload, created_at)
    SELECT 'evt_' || key, 'payment.succeeded', repeat('a payload ', 50), at FROM past
  )
  INSERT INTO twin_delivery (event_id, status, http_status, created_at, delivered_at)
  SELECT 'evt_' || key, 'DELIVERED', 200, at, at FROM past`;
