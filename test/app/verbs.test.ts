import { z } from 'zod';

import { NOUNS } from '../../src/app/commands/run-verb.ts';
import { optionOf, PARAMETER_SAMPLES, type Verb } from '../../src/app/commands/verb.ts';
import { productRoutes } from '../docs/document.ts';
import { runCommandLine } from '../support/command-line.ts';

type JsonSchema = {
  properties?: Record<string, { properties?: JsonSchema['properties'] }>;
  required?: string[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
};

const schemaOf = (schema: z.ZodType | undefined, io: 'input' | 'output'): JsonSchema =>
  schema ? (z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema) : {};

/** The fields of an object, or of any of its alternatives; required are those that each of them requires. */
function fieldsOf(schema: JsonSchema): { names: string[]; required: string[] } {
  const forms = schema.anyOf ?? [schema];
  const required = forms.map((form) => form.required ?? []);
  return {
    names: forms.flatMap((form) => Object.keys(form.properties ?? {})),
    required: (required[0] ?? []).filter((name) => required.every((names) => names.includes(name))),
  };
}

/** What the rows of a list have; the work queue's are in `items`. */
function rowFields(schema: JsonSchema): string[] {
  const dereferenced = (one: JsonSchema): JsonSchema => schema.$defs?.[one.$ref?.split('/').at(-1) ?? ''] ?? one;
  const top = dereferenced(schema);
  const list = (top.properties?.['items'] as JsonSchema | undefined) ?? top;
  return Object.keys(dereferenced(list.items ?? {}).properties ?? {});
}

const routeOf = (call: string) => productRoutes().find(({ method, path }) => `${method} ${path}` === call);
const verbs: [string, Verb][] = Object.entries(NOUNS).flatMap(([noun, { verbs: ofNoun }]) =>
  Object.entries(ofNoun).map(([name, verb]): [string, Verb] => [`${noun} ${name}`, verb]),
);

describe.each(verbs)('meskot %s', (name, verb) => {
  const route = routeOf(verb.call);

  test('is a route of operators', () => {
    expect(route?.auth.by).toBe('operator');
    if (verb.stalled) expect(routeOf(verb.stalled)?.auth.by).toBe('operator');
    if (verb.resource) expect(routeOf(`GET ${verb.resource}`)?.auth.by).toBe('operator');
  });

  test("has the route's fields as options, and requires what the route requires", () => {
    const input = fieldsOf(schemaOf(verb.call.startsWith('GET') ? route?.query : route?.body, 'input'));
    const options = (verb.options ?? []).map(optionOf);
    expect(input.names).toEqual(
      expect.arrayContaining([...options.map((one) => one.name), ...Object.keys(verb.body ?? {})]),
    );
    const given = options.filter((one) => one.required || one.default).map((one) => String(one.name));
    if (verb.upload === undefined) {
      expect([...given, ...Object.keys(verb.body ?? {})]).toEqual(expect.arrayContaining(input.required));
    }
    expect(route?.upload?.types[0]).toBe(verb.upload);
  });

  test("lists columns that the route's rows have, and has a sample for every argument", () => {
    const [status = '200'] = Object.keys(route?.responses ?? {});
    const rows = rowFields(schemaOf(route?.responses[Number(status)], 'output'));
    expect(rows).toEqual(expect.arrayContaining([...(verb.columns ?? [])]));
    expect(Object.keys(PARAMETER_SAMPLES)).toEqual(
      expect.arrayContaining([...verb.call.matchAll(/:(\w+)/g)].map(([, one]) => one)),
    );
  });

  test('prints its help with an example', async () => {
    const help = await runCommandLine({ url: 'http://127.0.0.1:9', key: 'unused' }, [...name.split(' '), '--help']);
    expect([help.exitCode, help.text]).toEqual([0, expect.stringContaining(`Example:\n  meskot ${name}`)]);
  });
});

test('meskot alone lists the nouns, and a noun alone its verbs', async () => {
  const connection = { url: 'http://127.0.0.1:9', key: 'unused' };
  const all = await runCommandLine(connection, []);
  expect(all.exitCode).toBe(0);
  for (const noun of Object.keys(NOUNS)) expect(all.text).toMatch(new RegExp(`^  ${noun} `, 'm'));
  const withdrawals = await runCommandLine(connection, ['withdrawals']);
  expect(withdrawals.exitCode).toBe(0);
  for (const verb of ['list', 'get', 'approve', 'reject', 'resolve']) expect(withdrawals.text).toContain(`  ${verb} `);
});
