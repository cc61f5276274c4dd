import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const NAME_BYTES = 16;
const NAME = /^[0-9a-f]{32}$/;

/**
 * Files in a folder that no web server serves, readable by the process's user only. Their names are random, and independent
 * of any input. Creates the folder with the first file.
 */
export function openFileFolder(folder: string) {
  const pathOf = (name: string): string => {
    if (!NAME.test(name)) throw new Error('not the name of a stored file');
    return join(folder, name);
  };
  /** Does nothing where the file does not exist. */
  const remove = async (name: string): Promise<void> => rm(pathOf(name), { force: true });
  /** Returns the name once the content is on the disk. After an error no file is left. */
  const write = async (content: Buffer | AsyncIterable<Buffer>): Promise<string> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = randomBytes(NAME_BYTES).toString('hex');
    try {
      await writeFile(pathOf(name), content, { flag: 'wx', mode: 0o600, flush: true });
    } catch (error) {
      await remove(name);
      throw error;
    }
    return name;
  };
  return {
    write,
    remove,
    replace: async (name: string, content: Buffer): Promise<void> => rename(pathOf(await write(content)), pathOf(name)),
    /** Throws where the file does not exist, as does `stream`. */
    read: async (name: string): Promise<Buffer> => readFile(pathOf(name)),
    stream: async (name: string) => (await open(pathOf(name))).createReadStream(),
    /** The names of the files that were not written to for this long, by the disk's own clock. */
    listOlder: async (ageMs: number): Promise<string[]> => {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw error;
      });
      const older: string[] = [];
      for (const name of names.filter((one) => NAME.test(one))) {
        const file = await stat(pathOf(name)).catch(() => null);
        if (file !== null && file.mtimeMs < Date.now() - ageMs) older.push(name);
      }
      return older;
    },
  };
}
