import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const PAGES = resolve(import.meta.dirname, '../../portal');
const ETHIOPIC = '\\u1200-\\u135f';
/** Imperatives as one speaks to a friend; the pages have the polite ones, such as ይሰርዙ for ሰርዝ. */
const FAMILIAR = `ሰርዝ አስቀምጥ ቀይር ጨምር አስወግድ አጥፋ አብራ ዝጋ ክፈት ላክ ቅዳ ፍጠር ፈልግ አውርድ ጠይቅ አረጋግጥ አጽድቅ አድርግ መዝግብ
  አቁም አንቃ አብቃ ቀጥል ጋብዝ አሳውቅ አሳይ አስተካክል ተግብር ወስን ጀምር ሞክር ጫን አግድ ልቀቅ አቅርብ አድስ አጋራ ተጠቀም ውጣ አንሳ`;
const FAMILIAR_WORD = new RegExp(
  `(?<![${ETHIOPIC}])(?:${FAMILIAR.split(/\s+/).join('|')})(?![${ETHIOPIC}])[^\\n]*`,
  'gu',
);

test('the pages in Amharic address a person politely, on buttons too', () => {
  const files = readdirSync(PAGES, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((file) => readFileSync(join(PAGES, file), 'utf8').match(FAMILIAR_WORD) ?? []);
  expect(found).toEqual([]);
});
