import type { Knex } from './db.ts';

/** The role the API and the worker connect as: no superuser, no owner, so it cannot change the schema. */
export const APP_ROLE = 'meskot_app';

/** The rows that the application removes once they have served. Of every other table it removes none. */
const REMOVABLE = ['holiday', 'idempotency_key', 'outbox'];

/**
 * What the application writes once and never changes: what happened, who decided it, the bytes that were signed, and the
 * rules, of which a change is another row.
 */
const WRITTEN_ONCE = [
  'fee_rule',
  'kyc_document',
  'kyc_timeline',
  'limit_rule',
  'operator_audit',
  'provider_callback',
  'settlement_timeline',
  'transaction_timeline',
  'webhook_event',
  'withdrawal_approval',
  'withdrawal_timeline',
];

/** What migrations keep of themselves. */
const READ_ONLY = ['knex_migrations', 'knex_migrations_lock'];

/**
 * Lets nobody connect but the owner and {@link APP_ROLE}. Rights on a database are no part of it: a copy (CREATE DATABASE …
 * TEMPLATE, a restored dump) starts with PostgreSQL's own, open to every login of the server.
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
 * Closes the database to every role but its owner and {@link APP_ROLE}, and gives that one what it needs, if it exists.
 * Functions are closed too: PostgreSQL lets everybody call a new one, and those of the ledger run as the owner.
 */
export async function grantRights(db: Knex): Promise<void> {
  await db.raw(CLOSE_DATABASE);
  await db.raw(`
    REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC;
    REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC;
    ALTER DEFAULT PRIVILEGES REVOKE ALL ON FUNCTIONS FROM PUBLIC;
  `);
  const { rows } = (await db.raw('SELECT 1 FROM pg_roles WHERE rolname = ?', [APP_ROLE])) as { rows: unknown[] };
  if (rows.length === 0) return;
  // One statement to PostgreSQL, so one transaction: a running API never finds a right missing.
  await db.raw(`
    GRANT USAGE ON SCHEMA public TO ${APP_ROLE};
    GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO ${APP_ROLE};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${APP_ROLE};
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO ${APP_ROLE};
    REVOKE DELETE, TRUNCATE, REFERENCES, TRIGGER ON ALL TABLES IN SCHEMA public FROM ${APP_ROLE};
    ${ofTables(`tablename IN (${list(REMOVABLE)})`, 'GRANT DELETE ON %I TO')}
    ${ofTables(`tablename IN (${list(WRITTEN_ONCE)})`, 'REVOKE UPDATE ON %I FROM')}
    ${ofTables(`tablename IN (${list(READ_ONLY)})`, 'REVOKE INSERT, UPDATE ON %I FROM')}
    -- The ledger is written by its own function only, which runs as the owner.
    ${ofTables(`starts_with(tablename, 'ledger_')`, 'REVOKE INSERT, UPDATE ON %I FROM')}
  `);
}

/** Does something to each table that is there: not every folder of migrations makes all of them. */
function ofTables(which: string, what: string): string {
  return `DO $$ DECLARE name text; BEGIN
      FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND ${which} LOOP
        EXECUTE format('${what} ${APP_ROLE}', name);
      END LOOP;
    END $$;`;
}

function list(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}
