import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findFullDisk, measureDisks } from '../../src/http/health.ts';
import { createRegistry } from '../../src/http/metrics.ts';

test('a disk is full by the space left for users other than root, also before the folder exists', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'meskot-disk-'));
  const folders = { REPORTS_DIR: folder, KYC_DOCUMENTS_DIR: join(folder, 'not', 'made', 'yet') };
  await expect(findFullDisk({ folders, freeMegabytesMin: 0 })).resolves.toBeNull();
  await expect(findFullDisk({ folders, freeMegabytesMin: 1e15 })).resolves.toMatch(
    /^The disk of REPORTS_DIR has \d+ MB/,
  );
  const missing = { KYC_DOCUMENTS_DIR: folders.KYC_DOCUMENTS_DIR };
  await expect(findFullDisk({ folders: missing, freeMegabytesMin: 1e15 })).resolves.toContain('KYC_DOCUMENTS_DIR');
  await rm(folder, { recursive: true });
});

test('free room and size of each disk are measured under the name of its setting', async () => {
  const registry = createRegistry('api');
  measureDisks(registry, {
    folders: { REPORTS_DIR: tmpdir(), KYC_DOCUMENTS_DIR: join(tmpdir(), 'not', 'made', 'yet') },
  });
  const text = await registry.metrics();
  const figure = (what: string, setting: string): number =>
    Number(new RegExp(`^meskot_disk_${what}_bytes\\{setting="${setting}",role="api"\\} (\\S+)$`, 'm').exec(text)?.[1]);
  for (const setting of ['REPORTS_DIR', 'KYC_DOCUMENTS_DIR']) {
    expect(figure('free', setting)).toBeGreaterThan(0);
    expect(figure('size', setting)).toBeGreaterThanOrEqual(figure('free', setting));
  }
});
