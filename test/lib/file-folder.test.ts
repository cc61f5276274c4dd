import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openFileFolder } from '../../src/lib/file-folder.ts';
import { describeFileStore } from './file-contract.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meskot-files-'));
});
afterAll(() => rm(folder, { recursive: true }));

describeFileStore('a folder', () => ({ files: openFileFolder(folder), names: async () => readdir(folder) }));

test('a folder that does not exist has no old files', async () => {
  await expect(openFileFolder(join(folder, 'none')).listOlder(0)).resolves.toEqual([]);
});
