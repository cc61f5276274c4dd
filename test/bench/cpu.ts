import { readdir, readFile } from 'node:fs/promises';

/** Linux counts processor time in hundredths of a second, whatever the kernel's tick is. */
const TICK_MS = 10;

type Process = { parent: number; ms: number };

/**
 * The processor time in milliseconds, user and system, of these processes and their children, including those that have
 * ended. Reads /proc, so it needs Linux.
 */
export async function processorMs(roots: readonly number[]): Promise<number> {
  const all = await readProcesses();
  const isOurs = (pid: number): boolean => roots.includes(pid) || isChild(pid);
  const isChild = (pid: number): boolean => {
    const parent = all.get(pid)?.parent;
    return parent !== undefined && parent > 1 && isOurs(parent);
  };
  let sum = 0;
  for (const [pid, { ms }] of all) if (isOurs(pid)) sum += ms;
  return sum;
}

async function readProcesses(): Promise<Map<number, Process>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = new Map<number, Process>();
  await Promise.all(
    pids.map(async (pid) => {
      // The process may have ended since the folder was read.
      const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
      if (text !== null) found.set(pid, parseStat(text));
    }),
  );
  return found;
}

/** The program's name is in brackets and may contain blanks; the fields follow it (man 5 proc, fields 4 and 14–17). */
function parseStat(text: string): Process {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), ms: ticks * TICK_MS };
}
