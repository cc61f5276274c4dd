#!/bin/bash
# The service `backup`: each day a copy of the whole database in /backups/base, each minute the documents that are new in
# /backups/documents. PostgreSQL itself keeps its write-ahead log in /backups/wal, at the latest a minute after each change
# (deploy/postgres/archive.sh). What is older than BACKUP_KEEP_DAYS goes. deploy/restore uses all three.
set -euo pipefail
# As process 1 it would ignore the signal that ends it.
trap 'exit 0' TERM

KEEP_DAYS=${BACKUP_KEEP_DAYS:-7}
EVERY_SECONDS=$((24 * 60 * 60))
say() { echo "$(date --utc +%FT%TZ) $*"; }
# PostgreSQL writes its log there, and reads the copies when they are restored.
install --directory --owner postgres --mode 700 /backups/wal
mkdir -p /backups/base /backups/documents
rm -rf /backups/base/*.new
PGPASSWORD=$(cat /run/secrets/backup_password)
export PGPASSWORD

is_due() { [ ! -e /backups/last ] || [ $(($(date +%s) - $(stat --format %Y /backups/last))) -ge $EVERY_SECONDS ]; }

copy_database() {
  local name new
  name=$(date --utc +%Y%m%dT%H%M%SZ)
  new=/backups/base/$name.new
  pg_basebackup --host postgres --username meskot_backup --pgdata "$new" --format tar --gzip --checkpoint fast --no-password \
    && sync "$new"/* && chown --recursive postgres "$new" && mv "$new" "/backups/base/$name" && touch /backups/last || return
  say "the database is copied: $name, $(du --summarize --human-readable "/backups/base/$name" | cut -f 1)"
  remove_old
}

# The newest copy from before the limit stays, with the log from its beginning on: each time since then can be restored.
remove_old() {
  local limit oldest=
  limit=$(date --utc --date "$KEEP_DAYS days ago" +%Y%m%dT%H%M%SZ)
  for path in /backups/base/*; do
    if [[ ${path##*/} < $limit ]]; then
      [ -z "$oldest" ] || rm -r "$oldest"
      oldest=$path
    else
      oldest=${oldest:-$path}
      break
    fi
  done
  # A copy's folder is named by the time of its beginning.
  local begin=${oldest##*/}
  find /backups/wal -type f ! -newermt "${begin:0:4}-${begin:4:2}-${begin:6:2}T${begin:9:2}:${begin:11:2}:${begin:13:2}Z" -delete
}

# For the textfile collector of Prometheus' node_exporter. A log that is not archived stays at PostgreSQL, until its disk is full.
write_metrics() {
  local failing
  failing=$(psql --host postgres --username meskot_backup --dbname postgres --no-password --tuples-only --no-align --command \
    "SELECT count(*) FROM pg_stat_archiver WHERE last_failed_time > coalesce(last_archived_time, '-infinity')") || return 0
  {
    echo "meskot_backup_archive_failing $failing"
    [ ! -e /backups/last ] || echo "meskot_backup_last_success_timestamp_seconds $(stat --format %Y /backups/last)"
  } > /backups/backup.prom.new
  chmod 644 /backups/backup.prom.new
  mv /backups/backup.prom.new /backups/backup.prom
}

# Documents never change: each is a file of its own name, encrypted.
copy_documents() { cp --archive --no-clobber /documents/. /backups/documents/; }

while true; do
  copy_documents || say "the documents could not be copied"
  if is_due; then copy_database || say "the database could not be copied; the next attempt is in a minute"; fi
  write_metrics
  sleep 60 &
  wait $!
done
