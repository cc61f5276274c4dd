import { resolve } from 'node:path';

import { z } from 'zod';

import { readVerbs, type Verb } from '../../src/app/commands/run-verb.ts';
import { openApiPath } from '../../src/http/openapi.ts';
import { productRoutes } from '../docs/document.ts';
import { runCommandLine } from '../support/command-line.ts';

type JsonSchema = {
  properties?: Record<string, { properties?: JsonSchema['properties'] }>;
  required?: string[];
  items?: JsonSchema;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
};

const schemaOf = (schema: z.ZodType | undefined, io: 'input' | 'output'): JsonSchema =>
  schema ? (z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema) : {};

/** What the rows of a list have; the work queue's are in `items`. */
function rowFields(schema: JsonSchema): string[] {
  const dereferenced = (one: JsonSchema): JsonSchema => schema.$defs?.[one.$ref?.split('/').at(-1) ?? ''] ?? one;
  const top = dereferenced(schema);
  const list = (top.properties?.['items'] as JsonSchema | undefined) ?? top;
  return Object.keys(dereferenced(list.items ?? {}).properties ?? {});
}

const ROUTES = productRoutes();
const VERBS = readVerbs(resolve(import.meta.dirname, '../..'));
const UNUSED = { url: 'http://127.0.0.1:9', key: 'unused' };
const routeOf = (method: string, path: string) =>
  ROUTES.find((route) => route.method === method && openApiPath(route.path) === path);
const verbs = VERBS.map((verb): [string, Verb] => [verb.name, verb]);

/** What operators type: a name stays once it is published. */
const NAMES: Readonly<Record<string, string>> = {
  work: 'list overview',
  withdrawals: 'list get approve reject resolve',
  refunds: 'list get resolve',
  settlements:
    'list get approve reject mark-sent mark-credited mark-failed mark-returned accept-late-credit dismiss-late-credit import-bank-file preview-bank-file',
  payments: 'list get release return',
  deliveries: 'list get resend cancel dismiss count-matching resend-matching',
  'resend-jobs': 'get cancel',
  receipts: 'list record-remittance record-unallocated record-recovery record-refund-recovery decide',
  reconciliation: 'list run list-discrepancies close-discrepancy',
  merchants: 'list get create suspend resume invite-owner',
  keys: 'list invite rotate revoke',
  channels:
    'approve suspend plan-maintenance list-maintenance cancel-maintenance list-credentials add-credentials check-credentials activate-credentials revoke-credentials',
  kyc: 'get get-document review approve reject request-info change-tier',
  'bank-accounts': 'get verify reject',
  holidays: 'list add reschedule enable disable confirm remove',
  operators: 'list whoami create change-role activate deactivate list-keys invite revoke-key',
  'own-keys': 'list create rotate revoke',
  proposals: 'list get confirm reject withdraw',
  audit: 'list',
  invitations: 'list revoke',
};

test('every command has a route, and every command of a route is one that is published', () => {
  const published = Object.entries(NAMES).flatMap(([noun, words]) => words.split(' ').map((verb) => `${noun} ${verb}`));
  expect(VERBS.map(({ name }) => name).toSorted()).toEqual([...published, 'search', 'work list --stalled'].toSorted());
});

describe.each(verbs)('meskot %s', (name, verb) => {
  const { method, path, confirm } = verb;
  const route = routeOf(method, path);

  test('is a route of operators, as is the resource that it reads first', () => {
    expect(route?.auth.by).toBe('operator');
    if (typeof confirm === 'string') expect(routeOf('GET', confirm)?.auth.by).toBe('operator');
  });

  test('gives every field that the route requires, and no other', () => {
    const input = schemaOf(method === 'GET' ? route?.query : route?.body, 'input');
    const given = verb.fields.filter(({ required }) => required).map((field) => field.name);
    const all = [...verb.fields.map((field) => field.name), ...Object.keys(verb.body ?? {})];
    expect(route?.upload?.types[0]).toBe(verb.upload);
    if (verb.upload !== undefined || verb.bodyFile) return;
    expect([...given, ...Object.keys(verb.body ?? {})]).toEqual(expect.arrayContaining(input.required ?? []));
    expect(Object.keys(input.properties ?? {})).toEqual(expect.arrayContaining(all));
    for (const use of verb.options ?? []) expect(all).toContain(use.replace('!', ''));
  });

  test("lists columns that the route's rows have", () => {
    const [status = '200'] = Object.keys(route?.responses ?? {});
    const rows = rowFields(schemaOf(route?.responses[Number(status)], 'output'));
    expect(rows).toEqual(expect.arrayContaining(verb.columns?.split(' ') ?? []));
  });

  test('prints its help with an example', async () => {
    const words = name.split(' ').slice(0, 2);
    const help = await runCommandLine(UNUSED, [...words, '--help']);
    expect([help.exitCode, help.text]).toEqual([0, expect.stringContaining(`Example:\n  meskot ${words.join(' ')}`)]);
    expect(help.text).not.toContain('undefined');
  });
});

test('meskot alone lists the nouns, and a noun alone its verbs', async () => {
  const all = await runCommandLine(UNUSED, []);
  expect(all.exitCode).toBe(0);
  for (const noun of Object.keys(NAMES)) expect(all.text).toMatch(new RegExp(`^  ${noun} `, 'm'));
  const withdrawals = await runCommandLine(UNUSED, ['withdrawals']);
  expect(withdrawals.exitCode).toBe(0);
  for (const verb of ['list', 'get', 'approve', 'reject', 'resolve']) expect(withdrawals.text).toContain(`  ${verb} `);
});

test("options have the route's choices, and defaults where the API has none", async () => {
  const list = (await runCommandLine(UNUSED, ['withdrawals', 'list', '--help'])).text.replaceAll(/\s+/g, ' ');
  expect(list).toContain('--environment <environment> (choices: "sandbox", "live", default: "sandbox")');
  expect(list).toContain('--limit <limit> (default: 100)');
  const audit = (await runCommandLine(UNUSED, ['audit', 'list', '--help'])).text.replaceAll(/\s+/g, ' ');
  expect(audit).toContain('--environment <environment> (choices: "sandbox", "live")');
});
