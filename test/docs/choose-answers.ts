import { readFileSync, writeFileSync } from 'node:fs';

import type { RecordedResponses } from '../../src/http/openapi.ts';
import type { RecordedResponse } from '../support/record-answers.ts';

/**
 * Chooses, of the answers that a test run has recorded, the examples that the docs show:
 *
 *     RECORD_ANSWERS=/tmp/answers npm test && node --import tsx test/docs/choose-answers.ts /tmp/answers
 *
 * Of each operation and status the one with the most fields, with the lists in it cut to one element.
 */
const ELEMENTS_MAX = 1;
const CHARACTERS_MAX = 6_000;
/** What tests plant, to find it where it must not be. */
const ODD = /[<>]|planted|WALLS|STRANGER|HOLDER|LIVEONLY|hostile|secret-|must not pay again/i;

const EXAMPLES = new URL('../../docs/answers.json', import.meta.url);

const read = (path: string | URL): string => readFileSync(path, 'utf8');

function cut(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, ELEMENTS_MAX).map(cut);
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? withoutSecrets(value) : value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cut(inner)]));
}

/** Of databases that are gone; yet a scanner for leaked keys would report them. */
function withoutSecrets(text: string): string {
  return text
    .replace(/^((?:sk|rk)_(?:test|live)|ok)_\w+$/, '$1_…')
    .replace(/^whsec_.+$/, 'whsec_…')
    .replace(/^invite_.+$/, 'invite_…')
    .replace(/^localhost$/, 'portal.example.et')
    .replaceAll(/http:\/\/(?:127\.0\.0\.1|localhost):\d+/g, 'https://pay.example.et');
}

/** How much of an answer is filled in. */
function enqueued(value: unknown): number {
  if (value === null || value === '' || value === undefined) return 0;
  if (typeof value !== 'object') return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + enqueued(inner), 0);
}

function choose(recorded: readonly RecordedResponse[]): object | undefined {
  const responses = recorded.map(({ body }) => cut(body) as object);
  const fit = responses.filter((answer) => {
    const text = JSON.stringify(answer);
    return text.length <= CHARACTERS_MAX && !ODD.test(text);
  });
  return fit.toSorted((a, b) => enqueued(b) - enqueued(a))[0];
}

const byAnswer = new Map<string, RecordedResponse[]>();
for (const line of read(process.argv[2] ?? '')
  .trim()
  .split('\n')) {
  const answer = JSON.parse(line) as RecordedResponse;
  const name = `${answer.operationId} ${answer.status}`;
  byAnswer.set(name, [...(byAnswer.get(name) ?? []), answer]);
}
const examples: Record<string, Record<string, object>> = { ...(JSON.parse(read(EXAMPLES)) as RecordedResponses) };
for (const [name, responses] of byAnswer) {
  const [operationId = '', status = ''] = name.split(' ');
  const chosen = choose(responses);
  if (chosen) examples[operationId] = { ...examples[operationId], [status]: chosen };
}
const sorted = Object.fromEntries(Object.entries(examples).toSorted(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(EXAMPLES, `${JSON.stringify(sorted, null, 2)}\n`);
