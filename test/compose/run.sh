#!/bin/bash
# run.sh COMMAND…: brings what test:compose and bench:compose need (prepare.sh), runs the command, and stops the engine if
# it was started for that.
set -euo pipefail
cd "$(dirname "$0")/../.."
settings=$(test/compose/prepare.sh)
eval "$settings"
trap '[ -z "${STARTED_ENGINE:-}" ] || kill "$(cat "$STARTED_ENGINE")"' EXIT
"$@"
