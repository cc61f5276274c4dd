#!/bin/sh
# The server takes its database's password from the environment only. It listens on both of its networks, and its parts find
# each other by one address: the image takes all addresses of the host for one.
set -eu
POSTGRES_PWD=$(cat /run/secrets/temporal_password)
BIND_ON_IP=0.0.0.0
TEMPORAL_BROADCAST_ADDRESS=$(getent hosts "$(hostname)" | head -n 1 | cut -d ' ' -f 1)
export POSTGRES_PWD BIND_ON_IP TEMPORAL_BROADCAST_ADDRESS
exec /etc/temporal/entrypoint.sh
