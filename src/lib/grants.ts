import type pg from 'pg';

/** The role the API and the worker connect as: no superuser, no owner, so it cannot change the schema. */
export const APP_ROLE = 'meskot_app';

/** Tables of which the application deletes rows. It deletes from no other. */
const REMOVABLE = [
  'external_reference',
  'holiday',
  'idempotency_key',
  'mail',
  'outbox',
  'report_schedule',
  'request_log',
  'sandbox_receiver_request',
  'saved_view',
  'sign_in_count',
  'user_session',
  'user_token',
  'webhook_workflow_start',
];

/** Append-only tables: events, decisions, signed bytes, and rules, which are changed by adding another row. */
const WRITTEN_ONCE = [
  'fee_rule',
  'kyc_document',
  'limit_rule',
  'merchant_audit',
  'operator_audit',
  'payout_approval',
  'provider_callback',
  'timeline',
  'webhook_event',
];

/**
 * Restricts connections to the owner and {@link APP_ROLE}. Rights on a database are not copied with it: a copy (CREATE
 * DATABASE … TEMPLATE, a restored dump) starts with PostgreSQL's defaults, open to every login of the server.
 */
export const CLOSE_DATABASE = `
  DO $$ BEGIN
    EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '${APP_ROLE}') THEN
      EXECUTE format('GRANT CONNECT ON DATABASE %I TO ${APP_ROLE}', current_database());
    END IF;
  END $$
`;

/**
 * Restricts the database to its owner and {@link APP_ROLE}, and grants that role what it needs, if it exists. Functions are
 * restricted too: PostgreSQL lets every role call a new one, and those of the ledger run as the owner.
 */
export async function grantRights(client: pg.Client): Promise<void> {
  await client.query(CLOSE_DATABASE);
  const { rows } = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [APP_ROLE]);
  // One message, so one transaction: a running API never finds a right missing.
  await client.query(`${REVOKE_FROM_PUBLIC} ${rows.length > 0 ? GRANT_TO_APP : ''}`);
}

const REVOKE_FROM_PUBLIC = `
  REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC;
  REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC;
  ALTER DEFAULT PRIVILEGES REVOKE ALL ON FUNCTIONS FROM PUBLIC;
`;

const GRANT_TO_APP = `
  GRANT USAGE ON SCHEMA public TO ${APP_ROLE};
  GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO ${APP_ROLE};
  GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${APP_ROLE};
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO ${APP_ROLE};
  -- A function that a migration recreates stays callable while the next migrations run.
  ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT EXECUTE ON FUNCTIONS TO ${APP_ROLE};
  REVOKE DELETE, TRUNCATE, REFERENCES, TRIGGER ON ALL TABLES IN SCHEMA public FROM ${APP_ROLE};
  ${ofTables(`tablename = ANY ('{${REMOVABLE.join()}}')`, 'GRANT DELETE ON %I TO')}
  ${ofTables(`tablename = ANY ('{${WRITTEN_ONCE.join()}}')`, 'REVOKE UPDATE ON %I FROM')}
  -- The ledger is written by its own function only, which runs as the owner; migrations are the owner's.
  ${ofTables(`tablename = 'schema_migration' OR starts_with(tablename, 'ledger_')`, 'REVOKE INSERT, UPDATE ON %I FROM')}
`;

/** Applies a statement to each existing table: not every folder of migrations has all of them. */
function ofTables(which: string, what: string): string {
  return `DO $$ DECLARE name text; BEGIN
      FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND (${which}) LOOP
        EXECUTE format('${what} ${APP_ROLE}', name);
      END LOOP;
    END $$;`;
}
