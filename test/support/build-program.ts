import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const PROJECT = resolve(import.meta.dirname, '../..');

type BuildOptions = {
  /** Folders that are built, too. */
  more?: readonly string[];
  /** Where the sources are; their types are checked then, which those of the project are elsewhere (npm run typecheck). */
  copy?: string;
};

/** Builds the project, or a copy of it, into `dist` of a new folder, which has what a deployed one has beside it. */
export async function buildProgram(folder: string, { more = [], copy }: BuildOptions = {}): Promise<void> {
  const sources = copy ?? PROJECT;
  await mkdir(folder);
  await Promise.all(
    ['docs', 'node_modules', 'migrations', 'package.json'].map((name) =>
      symlink(join(PROJECT, name), join(folder, name)),
    ),
  );
  const include = ['src', 'workflows', 'activities', ...more].map((name) => join(sources, name));
  const compilerOptions = {
    rootDir: sources,
    outDir: join(folder, 'dist'),
    typeRoots: [join(PROJECT, 'node_modules/@types')],
    declaration: false,
    types: ['node'],
    noCheck: copy === undefined,
  };
  const config = join(folder, 'tsconfig.json');
  await writeFile(config, JSON.stringify({ extends: join(PROJECT, 'tsconfig.json'), compilerOptions, include }));
  await promisify(execFile)(process.execPath, [join(PROJECT, 'node_modules/typescript/bin/tsc'), '-p', config]).catch(
    (error: Error & { stdout?: string }) => {
      throw new Error(`The project does not build:\n${error.stdout || error.message}`);
    },
  );
}
