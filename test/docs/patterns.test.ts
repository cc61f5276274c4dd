import { spawnSync } from 'node:child_process';

import { productDocument, walk } from './document.ts';

type Pattern = { path: string; pattern: string; examples: string[] };

const patterns: Pattern[] = [...walk(productDocument())].flatMap(({ node, path }) => {
  // A field that is named so is described by an object.
  if (typeof node['pattern'] !== 'string') return [];
  const examples = [node['example'], node['default'], ...((node['examples'] as unknown[] | undefined) ?? [])];
  return [{ path, pattern: node['pattern'], examples: examples.filter((one) => typeof one === 'string') }];
});

/** One of each, with the first place it stands at. */
const distinct = [...new Map(patterns.toReversed().map((one) => [one.pattern, one])).values()];

const BYTES = { ...process.env, LC_ALL: 'C' };
/** GNU grep is linked with PCRE; the grep of macOS is not. */
const hasPcre = spawnSync('grep', ['-qP', 'x'], { input: 'x' }).status === 0;
const testPcre = hasPcre ? test : test.skip;

const matchesInPcre = (pattern: string, text: string): boolean =>
  spawnSync('grep', ['-zqP', '-e', pattern], { input: text, env: BYTES }).status === 0;

describe('a pattern of the API description', () => {
  test('is there for many fields', () => {
    expect(patterns.length).toBeGreaterThan(100);
  });

  test('is understood by JavaScript without the u flag, as Swagger UI reads it, and means the same with it', () => {
    for (const { pattern } of distinct) {
      // With u an escape that means nothing is an error; without it, `\p` is a plain p.
      expect(() => new RegExp(pattern, 'u')).not.toThrow();
      expect(new RegExp(pattern).source).not.toMatch(/\\[pP]\{|\\u\{|\\k</);
    }
  });

  test('is understood by Python', () => {
    const program = 'import json, re, sys\nfor pattern in json.load(sys.stdin): re.compile(pattern)';
    const input = JSON.stringify(distinct.map(({ pattern }) => pattern));
    const { status, stderr } = spawnSync('python3', ['-c', program], { input, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  testPcre('is understood by PCRE, read as bytes as PHP does by default', () => {
    for (const { pattern } of distinct) {
      const { status, stderr } = spawnSync('grep', ['-cP', '-e', pattern], {
        input: 'x',
        encoding: 'utf8',
        env: BYTES,
      });
      // 0: it matches, 1: it does not, 2: it is no pattern.
      expect({ pattern, stderr, isPattern: status !== 2 }).toEqual({ pattern, stderr: '', isPattern: true });
    }
  });

  const texts = ['አበበ ቢቂላ', 'Café 🎉', 'two\nlines', 'a\ttab'];
  const isOneLine = [true, true, false, false];
  const oneLine = patterns.find(({ path }) => path.endsWith('/customerName'))?.pattern ?? '';

  test('lets Amharic names and emoji pass, and neither line breaks nor tabs', () => {
    expect(texts.map((text) => new RegExp(oneLine).test(text))).toEqual(isOneLine);
    const program = `import json, re, sys
pattern, texts = json.load(sys.stdin)
print(json.dumps([bool(re.search(pattern, text)) for text in texts]))`;
    const python = spawnSync('python3', ['-c', program], { input: JSON.stringify([oneLine, texts]), encoding: 'utf8' });
    expect(JSON.parse(python.stdout)).toEqual(isOneLine);
  });

  testPcre('does so in PCRE', () => {
    expect(texts.map((text) => matchesInPcre(oneLine, text))).toEqual(isOneLine);
  });

  test('matches every example and default beside it', () => {
    const wrong = patterns.flatMap(({ path, pattern, examples }) =>
      examples.filter((example) => !new RegExp(pattern).test(example)).map((example) => `${path}: ${example}`),
    );
    expect(wrong).toEqual([]);
    expect(patterns.filter(({ examples }) => examples.length > 0).length).toBeGreaterThan(3);
  });
});
