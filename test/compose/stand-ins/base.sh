#!/bin/bash
# The images that cannot be pulled, made of packages: programs of the same versions under the same names. `base.sh` makes
# the root of them all, Debian's next release, which has PostgreSQL 18 and Caddy as the official images have them.
set -euo pipefail
image=$1 mirror=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
debootstrap --variant=minbase --include=ca-certificates,netcat-openbsd forky "$folder/root" "$mirror" sid
# A mirror may be older than its list says.
echo 'Acquire::Check-Valid-Until "false";' > "$folder/root/etc/apt/apt.conf.d/mirror"
# Of a network whose proxy has an authority of its own.
cp /etc/ssl/certs/ca-certificates.crt "$folder/root/etc/ssl/certs/"
rm -rf "$folder/root/var/cache/apt/archives"/*.deb "$folder/root/var/lib/apt/lists"/*
tar -C "$folder/root" -c . | docker import - "$image"
