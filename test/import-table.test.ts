import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const PROJECT = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

/** Where an import stands, and what it imports. */
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
  ['activities/payments.ts', '../src/transactions/model.ts'],
  ['src/lib/db.ts', '../config.ts'],
  ['src/lib/db.ts', '../webhooks/record.ts'],
  ['src/http/pipeline.ts', '../keys/authenticate.ts'],
  ['src/access/api-keys.ts', '../webhooks/record.ts'],
  ['src/webhooks/events/record.ts', '../transactions/check.ts'],
  ['src/payments/sync.ts', '../checkout/create.ts'],
  ['src/payments/sync.ts', '../serve.ts'],
  ['src/payments/sync.ts', '../seed/seed.ts'],
  ['src/payments/sync.ts', '../relay.ts'],
  ['src/webhooks/delivery/claim.ts', '../../transactions/check.ts'],
  ['src/webhooks/delivery/claim.ts', '../../serve.ts'],
  ['src/payments/sync.ts', '../webhooks/model.ts'],
  ['src/payments/pay.ts', '@temporalio/client'],
  ['src/payments/pay.ts', '../../workflows/payment.ts'],
  ['src/sandbox/simulator/server.ts', '../providers/provider.ts'],
  ['src/demo/shop/server.ts', '../webhooks/signature.ts'],
  ['src/sdk/verify-webhook.ts', 'zod'],
  ['src/sdk/verify-webhook.ts', '../lib/crypto.ts'],
  ['src/outbox/relay.ts', './transactions/check.ts'],
] as const;

const ALLOWED = [
  ['workflows/payment.ts', '@temporalio/workflow'],
  ['workflows/payment.ts', '../src/webhooks/delivery/states.ts'],
  ['activities/payments.ts', '../src/payments/sync.ts'],
  ['src/payments/sync.ts', '../webhooks/record.ts'],
  ['src/webhooks/delivery/claim.ts', '../states.ts'],
  ['src/webhooks/delivery/claim.ts', '../../lib/db.ts'],
  ['src/payments/pay.ts', '../lib/db.ts'],
  ['src/demo/shop/server.ts', '../sdk/verify-webhook.ts'],
  ['src/sdk/verify-webhook.ts', 'node:crypto'],
  ['src/app/api.ts', './checkout/routes.ts'],
] as const;

/** The files of `src` itself are named in the table, all others by their folder. */
function planted([file]: readonly [string, string], index: number): string {
  return /^src\/[^/]+$/.test(file) ? file : file.replace(/\.ts$/, `-${index}.ts`);
}

/** Which of these imports, each in a file of its own, the linter refuses. */
async function refused<One extends readonly [string, string]>(imports: readonly One[]): Promise<One[]> {
  const folder = await mkdtemp(join(tmpdir(), 'meskot-lint-'));
  try {
    await cp(join(PROJECT, 'oxlint.config.mjs'), join(folder, 'oxlint.config.mjs'));
    for (const [index, one] of imports.entries()) {
      const path = join(folder, planted(one, index));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, `import { it } from '${one[1]}';\nit();\n`);
    }
    const oxlint = join(PROJECT, 'node_modules/oxlint/bin/oxlint');
    const args = [oxlint, '--config', 'oxlint.config.mjs', '--format', 'json'];
    const { stdout } = await run(process.execPath, args, { cwd: folder }).catch((error: { stdout: string }) => error);
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] };
    const found = diagnostics.filter(({ code }) => code.includes('no-restricted-imports'));
    const files = new Set(found.map(({ filename }) => filename));
    return imports.filter((one, index) => files.has(planted(one, index)));
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('the linter refuses what the import table does not allow, and nothing else', async () => {
  expect(await refused(FORBIDDEN)).toEqual(FORBIDDEN);
  expect(await refused(ALLOWED)).toEqual([]);
});
