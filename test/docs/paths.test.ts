import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const PROJECT = join(import.meta.dirname, '../..');
const documents = readdirSync(join(PROJECT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'test/README.md', ...documents];
const PATH = /`((?:src|test|workflows|activities|migrations|scripts)\/[\w./-]+)`/g;

test('every path of the repository that a document names exists', () => {
  const named = PAGES.flatMap((page) =>
    [...readFileSync(join(PROJECT, page), 'utf8').matchAll(PATH)].map(([, path = '']) => ({ page, path })),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ path }) => !existsSync(join(PROJECT, path)))).toEqual([]);
});
