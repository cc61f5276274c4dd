import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { Agent, request } from 'undici';

const run = promisify(execFile);
const PROJECT = resolve(import.meta.dirname, '../..');
const OUTPUT_BYTES_MAX = 50_000_000;
const engine = new Agent({ connect: { socketPath: '/var/run/docker.sock' } });
/** The containers of a real installation on this machine have the name of the compose file. */
const COMPOSE_PROJECT = 'meskot-test';
const REQUEST_TIMEOUT_MS = 10_000;

export type Reply<Data = Record<string, unknown>> = {
  status: number;
  body: { message: string; data: Data; error?: { code: string }; pagination?: { total: number } };
};

type Finding = { name: string; status: string; found: string };
type RequestOptions = { key?: string; body?: unknown; idempotencyKey?: string };

export type Installation = ReturnType<typeof createInstallation>;

/** A clone of the project as it is in the working tree, in a new folder: nothing is installed and nothing runs. */
export async function cloneProject(): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'meskot-compose-'));
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: PROJECT,
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  for (const name of stdout.split('\0').filter(Boolean)) {
    const source = join(PROJECT, name);
    // A file that is deleted in the working tree is still listed.
    await cp(source, join(folder, name), { recursive: false }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
  return createInstallation(folder);
}

function createInstallation(folder: string) {
  const env = { ...process.env, COMPOSE_PROJECT_NAME: COMPOSE_PROJECT };
  const execute = async (program: string, args: readonly string[]): Promise<string> => {
    const options = { cwd: folder, env, maxBuffer: OUTPUT_BYTES_MAX };
    return run(program, args, options).then(
      ({ stdout }) => stdout,
      (error: Error & { stdout?: string; stderr?: string }) => {
        throw new Error(`${program} ${args.join(' ')}\n${error.stdout ?? ''}${error.stderr ?? ''}`, { cause: error });
      },
    );
  };
  const compose = (...args: string[]) => execute('docker', ['compose', ...args]);
  let authority: string | undefined;
  /** Names that end in .localhost lead to this machine everywhere; not every resolver knows that. */
  const lookup = (_host: string, _options: object, done: (error: null, found: object[]) => void): void =>
    done(null, [{ address: '127.0.0.1', family: 4 }]);
  let agent: Agent | undefined;

  return {
    folder,
    project: COMPOSE_PROJECT,
    execute,
    compose,
    docker: (...args: string[]) => execute('docker', args),
    /** As the pages say: a command in a running API's container. */
    meskot: async (args: readonly string[], { key }: { key?: string } = {}): Promise<string> => {
      const options = key === undefined ? [] : ['--env', `MESKOT_OPERATOR_KEY=${key}`];
      return compose('exec', '--no-TTY', ...options, 'api', 'meskot', ...args);
    },
    /** Sets values of .env. */
    set: async (values: Readonly<Record<string, string>>): Promise<void> => {
      const path = join(folder, '.env');
      const kept = (await readFile(path, 'utf8'))
        .split('\n')
        .filter((line) => line && !((line.split('=')[0] ?? '') in values));
      const set = Object.entries(values).map(([name, value]) => `${name}=${value}`);
      await writeFile(path, `${[...kept, ...set].join('\n')}\n`);
    },
    write: async (path: string, change: (text: string) => string): Promise<void> => {
      const full = join(folder, path);
      const before = await readFile(full, 'utf8').catch(() => '');
      const after = change(before);
      if (after === before) throw new Error(`nothing changed in ${path}`);
      await writeFile(full, after);
    },
    /** A request through the proxy, whose certificate is verified. */
    send: async <Data = Record<string, unknown>>(
      method: string,
      url: string,
      { key, body, idempotencyKey }: RequestOptions = {},
    ): Promise<Reply<Data>> => {
      authority ??= await compose('exec', '--no-TTY', 'proxy', 'cat', '/data/caddy/pki/authorities/local/root.crt');
      agent ??= new Agent({ connect: { ca: authority, lookup: lookup as never } });
      const response = await request(url, {
        method: method as 'GET',
        dispatcher: agent,
        headersTimeout: REQUEST_TIMEOUT_MS,
        bodyTimeout: REQUEST_TIMEOUT_MS,
        headers: {
          ...(key !== undefined && { 'x-api-key': key }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await response.body.text();
      const isJson = String(response.headers['content-type']).startsWith('application/json');
      const parsed = isJson ? (JSON.parse(text) as Reply<Data>['body']) : { message: text, data: null as Data };
      return { status: response.statusCode, body: parsed };
    },
    /** The ids of the running containers of a service. */
    containersOf: async (service: string): Promise<string[]> =>
      (await compose('ps', '--quiet', service)).split('\n').filter(Boolean),
    /** What `meskot doctor` finds; it ends with 1 where something is wrong. */
    doctor: async (): Promise<Finding[]> => {
      const printed = await compose('exec', '--no-TTY', 'api', 'meskot', 'doctor', '--json').catch(
        (error: Error) => error.message,
      );
      return JSON.parse(printed.slice(printed.indexOf('['), printed.lastIndexOf(']') + 1)) as Finding[];
    },
    /** The processor time that each service has used, by the engine's count. */
    cpuMs: async (): Promise<Record<string, number>> => {
      const used: Record<string, number> = {};
      const rows = await compose('ps', '--format', '{{.ID}} {{.Service}}', '--no-trunc');
      for (const row of rows.split('\n').filter(Boolean)) {
        const [id, service = ''] = row.split(' ');
        const url = `http://engine/containers/${id}/stats?stream=false&one-shot=true`;
        const { body } = await request(url, { dispatcher: engine });
        const { cpu_stats: stats } = (await body.json()) as { cpu_stats: { cpu_usage: { total_usage: number } } };
        used[service] = (used[service] ?? 0) + stats.cpu_usage.total_usage / 1_000_000;
      }
      return used;
    },
    kill: async (service: string): Promise<void> => {
      const [id = ''] = (await compose('ps', '--quiet', service)).split('\n');
      await execute('docker', ['kill', id]);
      // An engine restarts what has died, but not what a command has killed.
      await execute('docker', ['start', id]);
    },
    remove: async (): Promise<void> => {
      await agent?.destroy();
      await compose('--profile', '*', 'down', '--volumes', '--timeout', '2').catch(() => '');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
