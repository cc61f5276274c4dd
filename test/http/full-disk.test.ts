import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findFullDisk } from '../../src/http/health.ts';

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
