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

psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres --file /roles.sql \
  --set owner="$(password_of owner_database_url)" --set app="$(password_of app_database_url)"
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set password="$(cat /run/secrets/backup_password)" <<'SQL'
CREATE ROLE meskot_backup LOGIN REPLICATION PASSWORD :'password';
SQL
