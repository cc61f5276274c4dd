#!/bin/bash
# PostgreSQL's archive_command: archive.sh PATH NAME keeps a segment of the write-ahead log in /backups/wal. One that fails
# is tried again until it succeeds, and PostgreSQL keeps the segment until then.
set -euo pipefail
kept=/backups/wal/$2.gz
# It was kept, and PostgreSQL was killed before it knew. Another content under a name that is taken is a mistake.
if [ -e "$kept" ]; then gzip -dc "$kept" | cmp --quiet - "$1"; exit; fi
gzip --fast --stdout "$1" > "$kept.new"
sync "$kept.new"
mv "$kept.new" "$kept"
