import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { CliCommand } from '../../http/route.ts';

/** A field of a query or a body, which is an option. */
export type Field = {
  name: string;
  required: boolean;
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
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const { 'x-cli': commands = [], summary, description } = operation;
      const [[type, { schema }] = ['application/json', { schema: {} }]] = Object.entries(
        operation.requestBody?.content ?? {},
      );
      const body = components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
      const all = fieldsOf(operation, body);
      const upload = type === 'application/json' ? undefined : type;
      const declared = { summary, description, method: method.toUpperCase(), path, upload };
      return commands.map((command) => ({ ...declared, ...command, fields: chosen(all, command.options) }));
    }),
  );
}

function fieldsOf({ parameters = [] }: Operation, { properties = {}, required = [] }: Body): Field[] {
  const ofQuery = parameters.filter((one) => one.in === 'query');
  const fields = [
    ...ofQuery.map(({ schema, ...one }) => ({ ...schema, ...one, required: one.required === true })),
    ...Object.entries(properties).map(([name, one]) => ({ ...one, name, required: required.includes(name) })),
  ];
  return fields.filter(({ name, type }) => type !== 'boolean' && !NO_OPTIONS.includes(name));
}

/** The fields of this list, where there is one. */
function chosen(fields: Field[], options: readonly string[] | undefined): Field[] {
  if (!options) return fields;
  const required = new Map(options.map((use) => [use.replace('!', ''), use.endsWith('!')]));
  return fields.flatMap((field) => {
    const isRequired = required.get(field.name);
    return isRequired === undefined ? [] : [{ ...field, required: isRequired }];
  });
}
