#!/bin/bash
# `npm run test:compose`: brings what the tests need (prepare.sh), runs them, and stops the engine that it has started.
set -euo pipefail
cd "$(dirname "$0")/../.."
settings=$(test/compose/prepare.sh)
eval "$settings"
trap '[ -z "${STARTED_ENGINE:-}" ] || kill "$(cat "$STARTED_ENGINE")"' EXIT
node --import ./scripts/install-if-needed.mjs --import ./test/support/end-with-parent.mjs --experimental-vm-modules \
  node_modules/jest/bin/jest.js --config jest.compose.config.mjs "$@"
