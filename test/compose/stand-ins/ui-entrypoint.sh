#!/bin/sh
# The official image writes the same from the same variables.
set -eu
mkdir -p /tmp/config
cat > /tmp/config/docker.yaml <<YAML
temporalGrpcAddress: $TEMPORAL_ADDRESS
host: 0.0.0.0
port: 8080
enableUi: true
YAML
exec ui-server --root /tmp --config config --env docker start
