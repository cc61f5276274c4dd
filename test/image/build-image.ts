import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { promisify } from 'node:util';

import dockerignore from '@balena/dockerignore';
import { type Arg, type Copy, DockerfileParser, type Env, type From, type Instruction } from 'dockerfile-ast';

const run = promisify(execFile);
const PROJECT = resolve(import.meta.dirname, '../..');
const OUTPUT_BYTES_MAX = 50_000_000;
/** An engine would read them and leave all out by .dockerignore, which takes a copy as long as the rest of the test. */
const LARGE = new Set(['.git', 'node_modules', '.data', 'dist', 'coverage']);

/** A stage of the Dockerfile: its files below `root`, and what its processes are started with. */
export type Stage = {
  root: string;
  workdir: string;
  env: Record<string, string>;
  /** Of the image's version. */
  node: string;
  entrypoint: string[];
};

/**
 * Builds the Dockerfile without a container engine, in a new folder: what .dockerignore lets in, and each ENV, WORKDIR, COPY
 * and RUN of every stage, with the base image's version of Node. Users and the rest of the base image it knows nothing of.
 * Only the folder stands for the image's root, so a RUN must name files from its WORKDIR.
 */
export async function buildImage(folder: string, project = PROJECT): Promise<Stage> {
  const context = join(folder, 'context');
  await copyContext(project, context);
  const dockerfile = DockerfileParser.parse(await readFile(join(project, 'Dockerfile'), 'utf8'));
  const defaults = dockerfile.getInitialARGs().map((one: Arg) => one.getProperty());
  const values = new Map(defaults.map((one) => [one?.getName() ?? '', one?.getValue() ?? '']));
  const stages = new Map<string, Stage>();
  let current: Stage | undefined;
  for (const instruction of dockerfile.getInstructions()) {
    if (instruction.getKeyword() === 'FROM') {
      const from = instruction as From;
      const name = from.getBuildStage() ?? 'image';
      const image = (from.getImage() ?? '').replace(/\$\{(\w+)\}/, (_, variable: string) => values.get(variable) ?? '');
      current = { root: join(folder, name), workdir: '/', env: {}, node: await installNode(image), entrypoint: [] };
      stages.set(name, current);
    } else if (current) await apply(instruction, current, { context, stages });
  }
  if (!current) throw new Error('the Dockerfile has no stage');
  return withPathsBelowRoot(current);
}

/** What an engine would be sent. */
async function copyContext(project: string, context: string): Promise<void> {
  const patterns = await readFile(join(project, '.dockerignore'), 'utf8');
  const ignored = dockerignore.default().add(patterns);
  const top = (await readdir(project)).filter((name) => !LARGE.has(name));
  for (const name of top) {
    const filter = (path: string): boolean => {
      const relative = path.slice(project.length + 1);
      // A folder that is left out may have a file that is let in.
      return patterns.includes(`!${relative}/`) || !ignored.ignores(relative);
    };
    await cp(join(project, name), join(context, name), { recursive: true, filter });
  }
}

/** The path of Node in the version of an image such as node:24.21.0-bookworm-slim. */
async function installNode(image: string): Promise<string> {
  const [, version] = /^node:(\d+\.\d+\.\d+)\b/.exec(image) ?? [];
  if (version === undefined) throw new Error(`the base image names no version of Node: ${image}`);
  const name = `node-${process.platform}-${process.arch}@${version}`;
  const { stdout } = await run('npx', ['--yes', '--package', name, '--', 'node', '--print', 'process.execPath']);
  return stdout.trim();
}

type Sources = { context: string; stages: ReadonlyMap<string, Stage> };

async function apply(instruction: Instruction, stage: Stage, sources: Sources): Promise<void> {
  const text = instruction.getArgumentsContent() ?? '';
  switch (instruction.getKeyword()) {
    case 'WORKDIR':
      stage.workdir = text;
      await mkdir(join(stage.root, text), { recursive: true });
      break;
    case 'ENV':
      for (const one of (instruction as Env).getProperties()) stage.env[one.getName()] = one.getValue() ?? '';
      break;
    case 'COPY':
      await copy(instruction as Copy, stage, sources);
      break;
    case 'RUN':
      await runShell(text, stage);
      break;
    case 'ENTRYPOINT':
      stage.entrypoint = JSON.parse(text) as string[];
      break;
    case 'USER':
    case 'CMD':
      break;
    default:
      throw new Error(`the test of the image does not know ${instruction.toString()}`);
  }
}

async function copy(instruction: Copy, stage: Stage, { context, stages }: Sources): Promise<void> {
  const from = instruction
    .getFlags()
    .find((flag) => flag.getName() === 'from')
    ?.getValue();
  const source = from ? stages.get(from)?.root : context;
  if (source === undefined) throw new Error(`COPY from a stage that is not there: ${from}`);
  const paths = instruction
    .getArguments()
    .map((one) => one.getValue())
    .filter((one) => !one.startsWith('--'));
  const target = paths.pop() ?? '';
  const destination = join(stage.root, isAbsolute(target) ? target : join(stage.workdir, target));
  for (const path of paths) {
    const found = join(source, path);
    if (!existsSync(found)) throw new Error(`COPY ${path}: not found; .dockerignore leaves it out, or it is not there`);
    const into = target.endsWith('/') ? join(destination, basename(path)) : destination;
    await mkdir(dirname(into), { recursive: true });
    await cp(found, into, { recursive: true, verbatimSymlinks: true });
  }
}

async function runShell(command: string, stage: Stage): Promise<void> {
  const cwd = join(stage.root, stage.workdir);
  // The machine's own, for its proxies and certificates, without what Jest has set. npm's cache spares half of the time.
  const { NODE_ENV: _test, NODE_OPTIONS: _modules, ...machine } = process.env;
  const path = [dirname(stage.node), machine['PATH']].join(delimiter);
  const env = { ...machine, npm_config_prefer_offline: 'true', ...stage.env, PATH: path };
  const shell = command.replaceAll('\\\n', ' ');
  await run('/bin/sh', ['-ec', shell], { cwd, env, maxBuffer: OUTPUT_BYTES_MAX }).catch((error: unknown) => {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`RUN ${command}\n${stdout}${stderr}`, { cause: error });
  });
}

/** Absolute paths of the image's own files, as this machine finds them. */
function withPathsBelowRoot(stage: Stage): Stage {
  const below = (path: string): string =>
    isAbsolute(path) && existsSync(join(stage.root, path)) ? join(stage.root, path) : path;
  const placed = ([name, value]: [string, string]) => [name, value.split(':').map(below).join(':')];
  return { ...stage, env: Object.fromEntries(Object.entries(stage.env).map(placed)) };
}
