import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { CliCommand } from '../../http/route.ts';

/** A field of a query or a body, which is an option. */
export type Field = {
  name: string;
  required?: boolean;
  type?: string;
  enum?: string[];
  description?: string;
  example?: string | number;
};

/** A command on the API: one request to its route. */
export type Verb = CliCommand & {
  method: string;
  path: string;
  summary: string;
  description: string;
  fields: Field[];
  /** The content type of a file that is sent in place of a body. */
  upload: string | undefined;
};

type Property = Omit<Field, 'name' | 'required'>;
type Body = { $ref?: string; properties?: Record<string, Property>; required?: string[] };
type Operation = {
  summary: string;
  description: string;
  'x-cli'?: CliCommand[];
  parameters?: { in: string; name: string; required?: boolean; schema: Property }[];
  requestBody?: { content: Record<string, { schema: Body }> };
};
type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Body> } };

/** Further parameters of lists, beside `page` and `limit`. */
const NO_OPTIONS = ['pageSize', 'cursor'];

/** The commands of all routes, from docs/openapi.json. `project` is the folder of package.json. */
export function readVerbs(project: string): Verb[] {
  const { paths, components } = JSON.parse(readFileSync(join(project, 'docs/openapi.json'), 'utf8')) as Document;
  const verbs: Verb[] = [];
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { 'x-cli': commands = [], summary, description, ...operation }] of Object.entries(operations)) {
      const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(operation.requestBody?.content ?? {});
      const { $ref = '', ...inline } = schema;
      const { properties = {}, required = [] } = components.schemas[$ref.split('/').at(-1) ?? ''] ?? inline;
      const ofQuery = (operation.parameters ?? []).filter((one) => one.in === 'query');
      const fields: Field[] = [
        ...ofQuery.map(({ schema: property, ...one }) => ({ ...property, ...one })),
        ...Object.entries(properties).map(([name, one]) => ({ ...one, name, required: required.includes(name) })),
      ].filter((field) => field.type !== 'boolean' && !NO_OPTIONS.includes(field.name));
      const upload = ['', 'application/json'].includes(type) ? undefined : type;
      const route = { method: method.toUpperCase(), path, upload };
      for (const command of commands) {
        const chosen = command.options?.flatMap((use) =>
          fields
            .filter(({ name }) => name === use.replace('!', ''))
            .map((one) => ({ ...one, required: use.endsWith('!') })),
        );
        verbs.push({ summary, description, ...command, ...route, fields: chosen ?? fields });
      }
    }
  }
  return verbs;
}
