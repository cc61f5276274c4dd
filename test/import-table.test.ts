import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const PROJECT = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

/** A file and its import. */
const FORBIDDEN = [
  ['workflows/payment.ts', 'node:fs'],
  ['workflows/payment.ts', 'zod'],
  ['workflows/payment.ts', '../activities/payments.ts'],
  ['workflows/payment.ts', '../src/payments/sync.ts'],
  ['workflows/webhook-delivery.ts', '../activities/webhooks.ts'],
  ['workflows/webhook-delivery.ts', '../src/webhooks/delivery/claim.ts'],
  ['activities/payments.ts', 'koa'],
  ['activities/payments.ts', '../workflows/payment.ts'],
  ['activities/payments.ts', '../src/temporal/client.ts'],
  ['activities/payments.ts', '../src/settlements/model.ts'],
  ['src/lib/db.ts', '../config.ts'],
  ['src/lib/db.ts', '../outbox/record.ts'],
  ['src/lib/db.ts', '../webhooks/events/record.ts'],
  ['src/http/pipeline.ts', '../access/authenticate.ts'],
  ['src/access/api-keys.ts', '../webhooks/events/record.ts'],
  ['src/access/api-keys.ts', '../merchants/operations.ts'],
  ['src/merchants/channels/channel.ts', '../../providers/telebirr/adapter.ts'],
  ['src/providers/telebirr/manifest.ts', 'zod'],
  ['src/providers/telebirr/manifest.ts', '../../lib/dates.ts'],
  ['src/webhooks/events/record.ts', '../../payments/sync.ts'],
  ['src/ledger/post.ts', '../webhooks/events/record.ts'],
  ['src/payments/sync.ts', '../payouts/withdrawals/create.ts'],
  ['src/payments/sync.ts', '../config.ts'],
  ['src/payments/sync.ts', '../app/run-process.ts'],
  ['src/payments/sync.ts', '../demo/seed/seed.ts'],
  ['src/payments/sync.ts', '../sandbox/simulator/server.ts'],
  ['src/payments/sync.ts', '../temporal/client.ts'],
  ['src/payments/sync.ts', '../webhooks/subscriptions/model.ts'],
  ['src/payments/sync.ts', '../merchants/operator-routes.ts'],
  ['src/payments/pay.ts', '@temporalio/client'],
  ['src/payments/pay.ts', '../../workflows/payment.ts'],
  ['src/payouts/withdrawals/create.ts', '../../settlements/create.ts'],
  ['src/reports/generate.ts', '../backoffice/work-queue.ts'],
  ['src/backoffice/work-queue.ts', '../temporal/client.ts'],
  ['src/temporal/client.ts', '../app/worker.ts'],
  ['src/app/api.ts', '../local/start.ts'],
  ['src/sandbox/simulator/server.ts', '../../providers/provider.ts'],
  ['src/demo/shop/server.ts', '../../webhooks/delivery/attempt.ts'],
  ['portal/ui/channel-text.ts', '../../src/merchants/channels/queries.ts'],
  ['src/sdk/verify-webhook.ts', 'zod'],
  ['src/sdk/verify-webhook.ts', '../lib/crypto.ts'],
] as const;

const ALLOWED = [
  ['workflows/payment.ts', '@temporalio/workflow'],
  ['workflows/payment.ts', '../src/webhooks/delivery/states.ts'],
  ['activities/payments.ts', '../src/payments/sync.ts'],
  ['src/payments/sync.ts', '../webhooks/events/record.ts'],
  ['src/webhooks/delivery/claim.ts', './states.ts'],
  ['src/webhooks/delivery/claim.ts', '../subscriptions/model.ts'],
  ['src/webhooks/delivery/claim.ts', '../../lib/db.ts'],
  ['src/payments/pay.ts', '../lib/db.ts'],
  ['src/merchants/channels/channel.ts', '../../providers/manifests.ts'],
  ['src/sandbox/simulator/channels.ts', '../../providers/manifests.ts'],
  ['src/sandbox/simulator/telebirr/protocol.ts', '../../../providers/telebirr/signing.ts'],
  ['portal/ui/channel-text.ts', '../../src/merchants/channels/channel.ts'],
  ['src/backoffice/merchant-routes.ts', '../merchants/schema.ts'],
  ['src/temporal/client.ts', '@temporalio/client'],
  ['src/demo/shop/server.ts', '../../sdk/verify-webhook.ts'],
  ['src/demo/seed/seed.ts', '../../payments/routes.ts'],
  ['src/sdk/verify-webhook.ts', 'node:crypto'],
  ['src/app/api.ts', '../payments/session-routes.ts'],
] as const;

/** Files directly in `src` and manifests have their own row in the table, all others that of their folder. */
function planted([file]: readonly [string, string], index: number): string {
  if (file.endsWith('/manifest.ts')) return file.replace(/[a-z]+\/manifest\.ts$/, `with-${index}/manifest.ts`);
  return /^src\/[^/]+$/.test(file) ? file : file.replace(/\.ts$/, `-${index}.ts`);
}

async function copyRules(folder: string): Promise<void> {
  await cp(join(PROJECT, 'oxlint.config.mjs'), join(folder, 'oxlint.config.mjs'));
  await cp(join(PROJECT, 'scripts/lint'), join(folder, 'scripts/lint'), { recursive: true });
}

async function lint(folder: string): Promise<{ code: string; filename: string }[]> {
  const oxlint = join(PROJECT, 'node_modules/oxlint/bin/oxlint');
  const args = [oxlint, '--config', 'oxlint.config.mjs', '--format', 'json'];
  const { stdout } = await run(process.execPath, args, { cwd: folder }).catch((error: { stdout: string }) => error);
  return (JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] }).diagnostics;
}

/** The imports that the linter rejects, each tried in a file of its own. */
async function refused<One extends readonly [string, string]>(imports: readonly One[]): Promise<One[]> {
  const folder = await mkdtemp(join(tmpdir(), 'meskot-lint-'));
  try {
    await copyRules(folder);
    for (const [index, one] of imports.entries()) {
      const path = join(folder, planted(one, index));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, `import { it } from '${one[1]}';\nit();\n`);
    }
    const diagnostics = await lint(folder);
    const found = diagnostics.filter(({ code }) => code.includes('no-restricted-imports'));
    const files = new Set(found.map(({ filename }) => filename));
    return imports.filter((one, index) => files.has(planted(one, index)));
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('the linter rejects imports that the import table does not allow, and no others', async () => {
  expect(await refused(FORBIDDEN)).toEqual(FORBIDDEN);
  expect(await refused(ALLOWED)).toEqual([]);
});

test('the linter rejects identifiers with a word that docs/glossary.md has replaced', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'meskot-lint-'));
  try {
    await copyRules(folder);
    await writeFile(join(folder, 'names.ts'), 'export const askable = 1;\nexport const payableCount = 2;\n');
    const found = await lint(folder);
    expect(found.map(({ code }) => code)).toEqual(['glossary(no-old-words)']);
  } finally {
    await rm(folder, { recursive: true });
  }
});
