# One image for every process: `docker run meskot api`, `worker`, `migrate`. Production unless MESKOT_MODE says otherwise.
# A release names its base by digest: --build-arg NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:…
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY activities activities
COPY docs docs
COPY portal portal
COPY src src
COPY workflows workflows
RUN npm run build && node dist/src/cli.js workflows bundle dist/workflows.js
# Commands are `docker compose exec api meskot …`.
RUN chmod +x dist/src/cli.js && mkdir bin && ln -s ../dist/src/cli.js bin/meskot
# The image's user owns these folders, and so the volumes that are mounted there.
RUN mkdir -m 700 data data/documents data/reports data/simulator

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without what no process reads: Temporal's native part for other platforms, types, source maps.
RUN npm ci --omit=dev \
  && cd node_modules && find @temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} + \
  && find . -type f \( -name '*.map' -o -name '*.md' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

FROM ${NODE_IMAGE}
ENV NODE_ENV=production MESKOT_MODE=production WORKFLOW_BUNDLE_PATH=/app/dist/workflows.js \
    PORTAL_PAGES_DIR=/app/dist/portal PATH=/app/bin:$PATH
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/bin bin
COPY --from=build --chown=node:node /app/data /var/lib/meskot
COPY package.json ./
COPY docs docs
COPY migrations migrations
USER node
ENTRYPOINT ["node", "dist/src/cli.js"]
CMD ["--help"]
