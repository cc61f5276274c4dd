import type { Scope } from '../../src/http/route.ts';
import type { TestService } from './service.ts';

type Schema = {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  additionalProperties?: Schema | boolean;
  required?: string[];
};
type Parameter = { in: string; name: string; required?: boolean };
type Described = {
  operationId: string;
  description?: string;
  security: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema; example?: object }> };
  /** File responses have another content type. */
  responses: Record<string, { content: { 'application/json'?: { schema: Schema } } }>;
};
export type Document = {
  paths: Record<string, Record<string, Described>>;
  components?: { schemas?: Record<string, Schema> };
};

/** One operation of /openapi.json. */
export type Operation = {
  /** "POST /api/checkout/sessions/{sessionId}/pay" */
  name: string;
  method: string;
  path: string;
  operationId: string;
  by: 'key' | 'key-or-client-token' | 'portal' | 'operator' | 'public';
  /** The required scope of restricted keys; null for public operations. */
  scope: Scope | null;
  pathNames: string[];
  queryNames: string[];
  requiredQuery: string[];
  bodyNames: string[];
  /** All fields of the body with their paths: `destination.phone`, `rules.0.channel`, `headers.x`. */
  bodyFields: string[];
  requiredBody: string[];
  /** The body of the docs' example, if there is one. */
  bodyExample: object | null;
  paginated: boolean;
  /** The content types of a file operation, which takes no JSON. */
  fileTypes: string[];
};

/** All operations of the running service, of its public listener and of the operators'. */
export async function readOperations({ api }: TestService): Promise<Operation[]> {
  const documents = await Promise.all(
    [api.url, api.operatorsUrl].map(async (url) => (await (await fetch(`${url}/openapi.json`)).json()) as Document),
  );
  const all = documents.flatMap(operationsOf);
  return [...new Map(all.map((operation) => [operation.name, operation])).values()];
}

/** All operations of an OpenAPI document. */
export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => read(document, { path, method, described })),
  );
}

function read(document: Document, of: { path: string; method: string; described: Described }): Operation {
  const { path, described } = of;
  const method = of.method.toUpperCase();
  const parameters = described.parameters ?? [];
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const body = follow(document, described.requestBody?.content['application/json']?.schema);
  const schemes = described.security.flatMap(Object.keys);
  const success = Object.entries(described.responses).find(([status]) => status.startsWith('2'));
  return {
    name: `${method} ${path}`,
    method,
    path,
    operationId: described.operationId,
    by: callerOf(schemes),
    scope: (/Scope of restricted keys: `([^`]+)`/.exec(described.description ?? '')?.[1] as Scope | undefined) ?? null,
    pathNames: [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ''),
    queryNames: query.map(({ name }) => name),
    requiredQuery: query.filter(({ required }) => required).map(({ name }) => name),
    bodyNames: Object.keys(body?.properties ?? {}),
    bodyFields: fieldsOf(document, body),
    requiredBody: body?.required ?? [],
    bodyExample: described.requestBody?.content['application/json']?.example ?? null,
    fileTypes: Object.keys(described.requestBody?.content ?? {}).filter((type) => type !== 'application/json'),
    paginated: Object.hasOwn(success?.[1].content['application/json']?.schema.properties ?? {}, 'pagination'),
  };
}

/** The paths of all fields below a schema; arbitrary keys are represented by `x`. */
function fieldsOf(document: Document, schema: Schema | undefined): string[] {
  const { properties, items, additionalProperties, anyOf = [] } = follow(document, schema) ?? {};
  const inner: [string, Schema][] = Object.entries(properties ?? {});
  if (items) inner.push(['0', items]);
  if (typeof additionalProperties === 'object') inner.push(['x', additionalProperties]);
  const below = inner.flatMap(([name, one]) => [name, ...fieldsOf(document, one).map((path) => `${name}.${path}`)]);
  return [...below, ...anyOf.flatMap((one) => fieldsOf(document, one))];
}

function callerOf(schemes: readonly string[]): Operation['by'] {
  if (schemes.length === 0) return 'public';
  if (schemes.includes('operatorKey')) return 'operator';
  if (schemes.includes('portalSession')) return 'portal';
  return schemes.includes('clientToken') ? 'key-or-client-token' : 'key';
}

function follow(document: Document, schema: Schema | undefined): Schema | undefined {
  const name = schema?.$ref?.split('/').at(-1);
  return name === undefined ? schema : document.components?.schemas?.[name];
}
