# One image for every process: `docker run meskot api`, `worker`, `migrate`.
FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY activities activities
COPY src src
COPY workflows workflows
RUN npm run build && node dist/src/cli.js bundle dist/workflows.js

FROM node:20-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:20-bookworm-slim
ENV NODE_ENV=production WORKFLOW_BUNDLE=/app/dist/workflows.js
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY migrations migrations
COPY docs/answers.json docs/
COPY docs/guides docs/guides
RUN install -d -o node -g node -m 700 /var/lib/meskot/documents /var/lib/meskot/reports
USER node
ENTRYPOINT ["node", "dist/src/cli.js"]
CMD ["--help"]
