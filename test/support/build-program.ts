import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const PROJECT = resolve(import.meta.dirname, '../..');

/**
 * Builds the project into `dist` of a new folder, which has what a deployed one has beside it; `more` are folders that
 * are built too. Types are checked elsewhere (npm run typecheck).
 */
export async function buildProgram(folder: string, more: readonly string[] = []): Promise<void> {
  await mkdir(folder);
  await Promise.all(
    ['docs', 'node_modules', 'migrations', 'package.json'].map((name) =>
      symlink(join(PROJECT, name), join(folder, name)),
    ),
  );
  const include = ['src', 'workflows', 'activities', ...more].map((name) => join(PROJECT, name));
  const compilerOptions = {
    rootDir: PROJECT,
    outDir: join(folder, 'dist'),
    typeRoots: [join(PROJECT, 'node_modules/@types')],
    declaration: false,
    noCheck: true,
  };
  const config = join(folder, 'tsconfig.json');
  await writeFile(config, JSON.stringify({ extends: join(PROJECT, 'tsconfig.json'), compilerOptions, include }));
  await promisify(execFile)(process.execPath, [join(PROJECT, 'node_modules/typescript/bin/tsc'), '-p', config]).catch(
    (error: Error & { stdout?: string }) => {
      throw new Error(`The project does not build:\n${error.stdout || error.message}`);
    },
  );
}
