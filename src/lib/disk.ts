import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

const MEGABYTE = 1_000_000;

/**
 * The first folder whose disk is full, as a sentence; null when all have space.
 * @param needs `folders`: those the process writes to, by the names of their settings.
 */
export async function findFullDisk(needs: {
  folders: Readonly<Record<string, string>>;
  freeMegabytesMin: number;
}): Promise<string | null> {
  const { folders, freeMegabytesMin } = needs;
  for (const [setting, folder] of Object.entries(folders)) {
    const freeMegabytes = Math.floor((await freeBytes(folder)) / MEGABYTE);
    if (freeMegabytes < freeMegabytesMin) {
      return `The disk of ${setting} has ${freeMegabytes} MB free, and at least ${freeMegabytesMin} MB are needed.`;
    }
  }
  return null;
}

/** Free space for users other than root. A folder that does not exist yet counts as its parent. */
async function freeBytes(folder: string): Promise<number> {
  let existing = resolve(folder);
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, bsize } = await statfs(existing);
  return bavail * bsize;
}
