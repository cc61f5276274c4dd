-- The roles and the database of Meskot, for a PostgreSQL without a superuser, as clouds offer it. Run it as a login with
-- CREATEROLE and CREATEDB, connected to any database; again to set other passwords. Then `meskot migrate` as the owner
-- makes the tables and grants meskot_app what it needs.
--
--   psql --set ON_ERROR_STOP=1 --set owner="$MESKOT_OWNER_PASSWORD" --set app="$MESKOT_APP_PASSWORD" \
--     --dbname postgresql://admin@db.example.et:5432/postgres --file roles.sql
--
-- meskot        owns the database and migrates it; no process of ours runs as it.
-- meskot_app    the API and the workers: no schema of its own, the ledger through its function only.
\set QUIET on
SELECT 'CREATE ROLE meskot' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'meskot') \gexec
SELECT 'CREATE ROLE meskot_app' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'meskot_app') \gexec
ALTER ROLE meskot LOGIN PASSWORD :'owner';
ALTER ROLE meskot_app LOGIN PASSWORD :'app';

-- Only a member of the owner may make a database for it. The membership ends below.
GRANT meskot TO CURRENT_USER;
SELECT 'CREATE DATABASE meskot OWNER meskot' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'meskot') \gexec
SET ROLE meskot;
REVOKE ALL ON DATABASE meskot FROM PUBLIC;
GRANT CONNECT ON DATABASE meskot TO meskot_app;
RESET ROLE;
REVOKE meskot FROM CURRENT_USER;
