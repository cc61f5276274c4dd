import { chmod, mkdir } from 'node:fs/promises';
import { userInfo } from 'node:os';

const OURS_ONLY = 0o700;
/** Others see nothing of it, but get through to what is theirs. */
const PASSABLE = 0o711;

/** Makes a folder that nobody else looks into, also when it was there and open before. */
export async function createPrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, OURS_ONLY);
}

/** The same, but root's lets PostgreSQL through, which runs as a user of its own then. */
export async function createFolderAboveDatabase(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, userInfo().uid === 0 ? PASSABLE : OURS_ONLY);
}
