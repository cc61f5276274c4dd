# One image for every process: `docker run meskot api`, `worker`, `migrate`. Production unless MESKOT_MODE says otherwise.
# A release names its base by digest: --build-arg NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:…
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY activities activities
COPY portal portal
COPY src src
COPY workflows workflows
RUN npm run build && node dist/src/cli.js workflows bundle dist/workflows.js

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM ${NODE_IMAGE}
ENV NODE_ENV=production MESKOT_MODE=production WORKFLOW_BUNDLE_PATH=/app/dist/workflows.js \
    PORTAL_PAGES_DIR=/app/dist/portal
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY migrations migrations
COPY docs/answers.json docs/events.json docs/examples.json docs/openapi.json docs/
COPY docs/guides docs/guides
RUN install -d -o node -g node -m 700 /var/lib/meskot/documents /var/lib/meskot/reports
USER node
ENTRYPOINT ["node", "dist/src/cli.js"]
CMD ["--help"]
