import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

const NAME_BYTES = 16;
const NAME = /^[0-9a-f]{32}$/;

/** Files under random names, independent of any input: in a folder, or in a bucket (file-bucket.ts). */
export type FileStore = {
  /** Returns the name once the content is stored durably. After an error no file is to be seen. */
  write: (content: Buffer | AsyncIterable<Buffer>) => Promise<string>;
  /** Replaces the content of a file, wholly or not at all. */
  replace: (name: string, content: Buffer) => Promise<void>;
  /** Throws where the file does not exist, as does `stream`. */
  read: (name: string) => Promise<Buffer>;
  stream: (name: string) => Promise<Readable>;
  /** Does nothing where the file does not exist. */
  remove: (name: string) => Promise<void>;
  /** The names of the files that were not written to for this long, also of those that were never completed. */
  listOlder: (ageMs: number) => Promise<string[]>;
};

export const newFileName = (): string => randomBytes(NAME_BYTES).toString('hex');

export const isFileName = (name: string): boolean => NAME.test(name);

/** Throws for what {@link newFileName} cannot have made. */
export function requireFileName(name: string): string {
  if (!isFileName(name)) throw new Error('not the name of a stored file');
  return name;
}

/**
 * Files in a folder that no web server serves, readable by the process's user only. Creates the folder with the first
 * file. Ages are by the disk's own clock.
 */
export function openFileFolder(folder: string): FileStore {
  const pathOf = (name: string): string => join(folder, requireFileName(name));
  const remove = async (name: string): Promise<void> => rm(pathOf(name), { force: true });
  const write = async (content: Buffer | AsyncIterable<Buffer>): Promise<string> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = newFileName();
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
    read: async (name: string): Promise<Buffer> => readFile(pathOf(name)),
    stream: async (name: string) => (await open(pathOf(name))).createReadStream(),
    listOlder: async (ageMs: number): Promise<string[]> => {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw error;
      });
      const older: string[] = [];
      for (const name of names.filter(isFileName)) {
        const file = await stat(pathOf(name)).catch(() => null);
        if (file !== null && file.mtimeMs < Date.now() - ageMs) older.push(name);
      }
      return older;
    },
  };
}
