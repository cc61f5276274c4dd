#!/bin/bash
# What of the official image's entrypoint the compose file uses: the first start makes the superuser and the database and
# runs the files of /docker-entrypoint-initdb.d.
set -eu
[ "${1:-postgres}" = postgres ] || exec "$@"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  password=${POSTGRES_PASSWORD:-$(cat "$POSTGRES_PASSWORD_FILE")}
  user=${POSTGRES_USER:-postgres}
  initdb --username="$user" --pwfile=<(echo "$password") --auth-local=trust --auth-host=scram-sha-256 --data-checksums > /dev/null
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl --silent --wait -o "-c listen_addresses=''" start
  export POSTGRES_USER=$user
  if [ "${POSTGRES_DB:-$user}" != postgres ]; then createdb --username="$user" --maintenance-db=postgres "${POSTGRES_DB:-$user}"; fi
  for file in /docker-entrypoint-initdb.d/*; do
    case $file in
      *.sh) bash "$file" ;;
      *.sql) psql --set ON_ERROR_STOP=1 --username "$user" --dbname "${POSTGRES_DB:-$user}" --file "$file" ;;
    esac
  done
  pg_ctl --silent --wait --mode=fast stop
fi
shift || true
exec postgres -c "listen_addresses=*" "$@"
