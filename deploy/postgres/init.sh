#!/bin/bash
# Runs once, when the volume of PostgreSQL is empty: the roles and the database.
set -eu

# The password in an address.
password_of() {
  local rest
  rest=$(cat "/run/secrets/$1")
  rest=${rest#*://*:}
  echo "${rest%%@*}"
}

psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set owner_password="$(password_of owner_database_url)" \
  --set app_password="$(password_of app_database_url)" \
  --set backup_password="$(cat /run/secrets/backup_password)" <<'SQL'
CREATE ROLE meskot LOGIN PASSWORD :'owner_password';
CREATE ROLE meskot_app LOGIN PASSWORD :'app_password';
CREATE ROLE meskot_backup LOGIN REPLICATION PASSWORD :'backup_password';
CREATE DATABASE meskot OWNER meskot;
REVOKE ALL ON DATABASE meskot FROM PUBLIC;
GRANT CONNECT ON DATABASE meskot TO meskot_app;
SQL
