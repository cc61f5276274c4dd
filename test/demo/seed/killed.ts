import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const PROJECT = resolve(import.meta.dirname, '../../..');

/** Half of what `npm start` seeds: every scenario occurs. */
export const PAYMENTS = 1_500;

/** Seeds in a child process and kills it in the middle. */
export async function seedAndKill(
  databaseUrl: string,
  folders: { KYC_DOCUMENTS_DIR: string; REPORTS_DIR: string },
): Promise<void> {
  const code = `
    import { readConfig } from './src/config.ts';
    import { seedDemo } from './src/demo/seed/seed.ts';
    const [, DATABASE_URL, KYC_DOCUMENTS_DIR, REPORTS_DIR] = process.argv;
    const config = readConfig({ DATABASE_URL, KYC_DOCUMENTS_DIR, REPORTS_DIR, TEMPORAL_ADDRESS: 'nowhere:1' });
    const onProgress = (made) => made > 400 && process.stdout.write('enough');
    await seedDemo({ config, previous: {}, payments: ${PAYMENTS}, webhookUrl: 'http://localhost:4003/webhooks', onProgress });`;
  const script = ['--import', 'tsx', '--input-type=module', '-e', code];
  const child = spawn(process.execPath, [...script, databaseUrl, folders.KYC_DOCUMENTS_DIR, folders.REPORTS_DIR], {
    cwd: PROJECT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.once('data', () => child.kill('SIGKILL'));
  const [exitCode] = await once(child, 'exit');
  if (exitCode !== null) throw new Error(`The seed was not killed but exited with ${String(exitCode)}.`);
}
