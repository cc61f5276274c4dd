import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { environment } from '../../src/config.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { POSTGRES_USER } from '../../src/local/postgres.ts';
import { until } from './until.ts';

export type PgBouncer = {
  /** The same database and role through the pooler. */
  through: (url: string) => string;
  close: () => Promise<void>;
};

/** PgBouncer in front of the server of these roles' URLs, with its default settings but these. */
export async function startPgBouncer(urls: readonly string[], settings: Record<string, string>): Promise<PgBouncer> {
  // Of jest.config.mjs.
  const { PGBOUNCER: program = '' } = environment;
  if (program === '') throw new Error("Install Debian's package pgbouncer.");
  const folder = await mkdtemp(join(tmpdir(), 'meskot-pgbouncer-'));
  const port = await anyFreePort();
  const users = join(folder, 'users.txt');
  const config = join(folder, 'pgbouncer.ini');
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'plain',
    auth_file: users,
  };
  const lines = Object.entries({ ...all, ...settings }).map(([name, value]) => `${name} = ${value}`);
  const roles = urls.map((url) => new URL(url));
  await writeFile(users, roles.map(({ username, password }) => `"${username}" "${password}"\n`).join(''));
  await writeFile(config, `[databases]\n* = host=127.0.0.1 port=${roles[0]?.port}\n[pgbouncer]\n${lines.join('\n')}\n`);
  // It refuses to run as root.
  await chmod(folder, 0o755);
  const child = spawn(program, ['-q', config], { stdio: ['ignore', 'ignore', 'ignore'], cwd: '/', ...POSTGRES_USER });
  await until('PgBouncer to listen', async () => {
    const socket = connect(port, '127.0.0.1');
    return once(socket, 'connect')
      .then(() => true)
      .catch(() => false)
      .finally(() => socket.destroy());
  });
  return {
    through: (url) => Object.assign(new URL(url), { port: String(port) }).href,
    close: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true });
    },
  };
}
