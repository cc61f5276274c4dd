import { readFileSync } from 'node:fs';

import { ARCHITECTURE_FILE, DIAGRAM_NAMES, withStateDiagrams } from './state-diagrams.ts';

const committed = readFileSync(ARCHITECTURE_FILE, 'utf8');

test('docs/architecture.md has one state diagram for each table of transitions', () => {
  const names = [...committed.matchAll(/<!-- states: (.+) -->\n\n```mermaid\n/g)].map(([, name = '']) => name);
  expect(names.toSorted()).toEqual(DIAGRAM_NAMES.toSorted());
});

test('the state diagrams of docs/architecture.md have the transitions of the states.ts files', () => {
  const [before, current] = [committed, withStateDiagrams(committed)].map((text) => text.split('\n'));
  const differences = current?.filter((line, index) => line !== before?.[index]) ?? [];
  expect({ hint: 'write them with: npm run diagrams', differences }).toMatchObject({ differences: [] });
});
