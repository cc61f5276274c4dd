import { readFileSync } from 'node:fs';

import { WITHDRAWAL_STATUSES, WITHDRAWAL_TRANSITIONS } from '../../src/withdrawals/states.ts';

test('the diagram of a withdrawal in docs/architecture.md has the transitions of states.ts', () => {
  const page = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('## A withdrawal');
  const [diagram = ''] = /stateDiagram-v2[^`]*/.exec(section) ?? [];
  const drawn = [...diagram.matchAll(/^ {2}(\w+) --> (\w+)$/gm)].map(([, from, to]) => `${from} ${to}`);
  const transitions = WITHDRAWAL_STATUSES.flatMap((from) => WITHDRAWAL_TRANSITIONS[from].map((to) => `${from} ${to}`));
  expect(drawn.toSorted()).toEqual(transitions.toSorted());
});
