import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openLocalLog } from '../../src/local/log.ts';

test('the local log prints warnings and errors once as one line, has all lines in its file, and keeps the previous file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'meskot-log-'));
  const file = join(folder, 'logs', 'meskot.log');
  const lines: string[] = [];
  const open = () => openLocalLog(file, { level: 'info', write: (line) => void lines.push(line) });
  const first = open();
  first.log.info('not printed');
  first.log.warn({ err: new Error('no route') }, 'a job failed');
  first.log.warn({ err: new Error('no route') }, 'a job failed');
  first.log.error('it broke');
  first.close();
  expect(lines).toEqual(['warning: a job failed (no route)', 'error: it broke']);
  const written = (await readFile(file, 'utf8')).trim().split('\n');
  expect(written).toHaveLength(4);
  expect(JSON.parse(written[1] ?? '')).toMatchObject({ level: 40, err: { stack: expect.any(Array) } });

  open().close();
  expect(await readFile(`${file}.1`, 'utf8')).toContain('it broke');
  expect(await readFile(file, 'utf8')).toBe('');
  await rm(folder, { recursive: true });
});
