import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openLocalLog } from '../../src/local/log.ts';

test('warnings and errors are a line each for people, and whole in the file; the start before keeps its own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'meskot-log-'));
  const file = join(folder, 'logs', 'meskot.log');
  const lines: string[] = [];
  const open = () => openLocalLog(file, { level: 'info', write: (line) => void lines.push(line) });
  const first = open();
  first.log.info('nothing for people');
  first.log.warn({ err: new Error('no route') }, 'a chore failed');
  first.log.warn({ err: new Error('no route') }, 'a chore failed');
  first.log.error('it broke');
  first.close();
  expect(lines).toEqual(['warning: a chore failed (no route)', 'error: it broke']);
  const kept = (await readFile(file, 'utf8')).trim().split('\n');
  expect(kept).toHaveLength(4);
  expect(JSON.parse(kept[1] ?? '')).toMatchObject({ level: 40, err: { stack: expect.any(Array) } });

  open().close();
  expect(await readFile(`${file}.1`, 'utf8')).toContain('it broke');
  expect(await readFile(file, 'utf8')).toBe('');
  await rm(folder, { recursive: true });
});
