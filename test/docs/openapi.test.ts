import { readFileSync } from 'node:fs';

import { CONTRACT_FILE, contractText } from './document.ts';

test('docs/openapi.json describes the routes as they are, so that a change of the contract is seen in review', () => {
  const [committed, current] = [readFileSync(CONTRACT_FILE, 'utf8'), contractText()].map((text) => text.split('\n'));
  const line = current?.findIndex((text, index) => text !== committed?.[index]) ?? -1;
  const difference = line === -1 ? null : { line: line + 1, committed: committed?.[line], current: current?.[line] };
  expect({ hint: 'write it with: npm run openapi', difference }).toMatchObject({ difference: null });
  expect(committed?.length).toBe(current?.length);
});
