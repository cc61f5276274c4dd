import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { z } from 'zod';
import {
  createDocument,
  type CreateDocumentOptions,
  type ZodObjectInput,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';

import { AppError, ERROR_STATUS, type ErrorCode, type FieldIssue } from '../lib/errors.ts';
import { withoutSafeIntegerBounds } from '../lib/fields.ts';
import { FieldIssues } from '../lib/issues.ts';
import { isIdempotent } from './idempotency.ts';
import { permissionText, schemesOf, SECURITY } from './openapi-security.ts';
import { errorText } from './response.ts';
import { SCOPES, SCOPES_BEFORE_VERIFICATION, type Route } from './route.ts';

const Timestamp = z.string().meta({ format: 'date-time', example: '2026-01-31T15:04:05.678+03:00' });

const Pagination = z
  .object({
    total: z.int().describe('Matching rows, exact'),
    page: z.int(),
    limit: z.int(),
    totalPages: z.int(),
    nextCursor: z.string().nullable().describe('Send it as cursor to get the next page; null at the end'),
  })
  .meta({ id: 'Pagination' });

const ErrorBody = z
  .object({
    statusCode: z.int(),
    message: z.string().describe('The wrong value, what is allowed, and what to do'),
    data: z.null(),
    error: z.object({
      code: z.enum(Object.keys(ERROR_STATUS)),
      details: FieldIssues,
      docUrl: z.string(),
      existing: z.record(z.string(), z.string()).optional().describe('Ids of the existing resources'),
    }),
    requestId: z.string(),
    timestamp: Timestamp,
  })
  .meta({ id: 'Error' });

const IdempotencyHeader = z.object({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe('Makes the request safe to repeat for 24 hours: a repeat gets the first response and changes nothing'),
});

/** The part of an error that differs from one to the next of the same code. */
type ErrorExample = { message: string; details?: FieldIssue[]; existing?: Record<string, string> };

/** The documentation of errors: of each code, the text behind its docUrl too; and examples by code and operation. */
type ErrorDocs = {
  errors: Readonly<Record<ErrorCode, ErrorExample & { meaning: string }>>;
  operationErrors: Partial<Readonly<Record<ErrorCode, Readonly<Record<string, ErrorExample>>>>>;
};

/** Recorded responses by operation and status (test/docs/choose-answers.ts). */
export type RecordedResponses = Readonly<Record<string, Readonly<Record<string, object>>>>;

/** The examples of the docs; `bodies` by operation, where the examples of the fields make no valid one together. */
export type Examples = ErrorDocs & { responses: RecordedResponses; bodies: Readonly<Record<string, object>> };

/** Reads the examples of the docs from their folder. */
export function readExamples(folder: string): Examples {
  const read = (name: string): object => JSON.parse(readFileSync(join(folder, name), 'utf8')) as object;
  return { ...read('examples.json'), responses: read('answers.json') } as Examples;
}

/**
 * The parts of the document beside the routes. `baseUrl`: the public address. `serverUrl`: that of the routes; '': where the
 * document is. Both without a slash at their end.
 */
export type DocsOptions = { version: string; baseUrl: string; serverUrl: string; examples: Examples };

/** The OpenAPI 3.1 document of the route table, from the schemas that the pipeline validates with. */
export function createOpenApiDocument(
  routes: readonly Route[],
  options: DocsOptions,
): ReturnType<typeof createDocument> {
  const common = Object.entries(options.examples.errors) as [ErrorCode, ErrorExample][];
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    const path = openApiPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, options) };
  }
  return createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Meskot merchant checkout',
        version: options.version,
        description:
          'Payments in ETB. Every response is one envelope; every error has a code and a message with the next step. Amounts are JSON numbers of birr with at most two decimals. Days are those of Addis Ababa (UTC+3).\n\nGuide: [Receiving and verifying webhooks](/docs/guides/verifying-webhooks). [What each error code means](/docs/errors).',
      },
      servers: [{ url: options.serverUrl || '/' }],
      tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
      components: {
        examples: Object.fromEntries(common.map(([code, example]) => [code, errorResponse(code, example, options)])),
        securitySchemes: schemesOf(routes),
      },
      paths,
    },
    { override },
  );
}

/** Responses may get more fields later, so clients must not reject unknown ones. */
const override: NonNullable<CreateDocumentOptions['override']> = ({ jsonSchema, io }) => {
  withoutSafeIntegerBounds({ jsonSchema });
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
};

/** Koa's `/a/:id` as OpenAPI's `/a/{id}`. */
export function openApiPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

function operation(route: Route, options: DocsOptions): ZodOpenApiOperationObject {
  // The pipeline's validator ensures that both are objects.
  const [path, query] = [route.params, route.query] as (ZodObjectInput | undefined)[];
  return {
    operationId: route.operationId,
    ...(route.cli && { 'x-cli': [route.cli].flat().map((one) => (typeof one === 'string' ? { name: one } : one)) }),
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, permissionText(route)].filter(Boolean).join('\n\n'),
    security: SECURITY[route.auth.by],
    requestParams: {
      ...(path && { path }),
      ...(query && { query }),
      ...(isIdempotent(route) && { header: IdempotencyHeader }),
    },
    ...requestBody(route, options),
    responses: { ...successes(route, options), ...errors(route, options) },
  };
}

function requestBody({ operationId, body, upload }: Route, { examples }: DocsOptions) {
  if (upload) return { requestBody: { required: true, content: filesOf(upload.types) } };
  if (!body) return {};
  const example = examples.bodies[operationId];
  const content = { 'application/json': { schema: body, ...(example && { example }) } };
  return { requestBody: { required: !body.safeParse({}).success, content } };
}

function filesOf(types: readonly string[]) {
  const file = { schema: { type: 'string', format: 'binary' } } as const;
  return Object.fromEntries(types.map((type) => [type, file]));
}

function successes(route: Route, { examples }: DocsOptions): ZodOpenApiOperationObject['responses'] {
  if (route.fileTypes) return { 200: { description: 'The file', content: filesOf(route.fileTypes) } };
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, data]) => {
      const schema = z.object({
        statusCode: z.literal(Number(status)),
        message: z.string(),
        data,
        ...(route.paginated && { pagination: Pagination }),
        timestamp: Timestamp,
      });
      const example = examples.responses[route.operationId]?.[status];
      return [
        status,
        { description: 'Success', content: { 'application/json': { schema, ...(example && { example }) } } },
      ];
    }),
  );
}

function errors(route: Route, options: DocsOptions): ZodOpenApiOperationObject['responses'] {
  const all = errorCodes(route);
  return Object.fromEntries(
    [...new Set(all.map((code) => ERROR_STATUS[code]))].map((status) => {
      const codes = all.filter((code) => ERROR_STATUS[code] === status);
      const description = codes.map((code) => `- \`${code}\`: ${options.examples.errors[code].meaning}`).join('\n');
      // One that is the same for every route is a component.
      const exampleOf = (code: ErrorCode) => {
        const own = options.examples.operationErrors[code]?.[route.operationId];
        return own ? errorResponse(code, own, options) : { $ref: `#/components/examples/${code}` };
      };
      const examples = Object.fromEntries(codes.map((code) => [code, exampleOf(code)]));
      return [status, { description, content: { 'application/json': { schema: ErrorBody, examples } } }];
    }),
  );
}

function errorResponse(
  code: ErrorCode,
  example: ErrorExample,
  { baseUrl }: DocsOptions,
): { summary: string; value: unknown } {
  const at = new Date('2026-01-31T12:04:05.678Z');
  const error = new AppError(code, example.message, example);
  const text = errorText(error, { requestId: 'req_01KG9Y5T40V6M2X8R3N7Q1W4ZC', baseUrl, at });
  return { summary: code, value: JSON.parse(text) };
}

/** Every error code of a route: those that follow from its declaration, and those it declares for its operation. */
export function errorCodes(route: Route): ErrorCode[] {
  const isWrite = route.method !== 'GET';
  const fields = { ...fieldsOf(route.query), ...fieldsOf(route.body) };
  const codes: ReadonlySet<string> = new Set<ErrorCode>([
    'VALIDATION_ERROR',
    'INTERNAL_ERROR',
    'SERVICE_UNAVAILABLE',
    ...callerCodes(route),
    ...codesIf(route.rateLimit !== 'none', 'RATE_LIMITED'),
    ...codesIf(route.params !== undefined, 'NOT_FOUND'),
    ...codesIf(isWrite, 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'),
    ...codesIf(isWrite && !route.upload, 'INVALID_JSON'),
    ...codesIf('startDate' in fields && 'endDate' in fields, 'INVALID_DATE_RANGE', 'DATE_RANGE_TOO_WIDE'),
    ...codesIf('currency' in fields, 'UNSUPPORTED_CURRENCY'),
    ...codesIf(isIdempotent(route), 'IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED'),
    ...(route.errors ?? []),
  ]);
  return (Object.keys(ERROR_STATUS) as ErrorCode[]).filter((code) => codes.has(code));
}

const codesIf = (isSo: boolean, ...codes: ErrorCode[]): ErrorCode[] => (isSo ? codes : []);

const ANY_KEY: ErrorCode[] = [
  'AUTHENTICATION_REQUIRED',
  'INVALID_API_KEY',
  'API_KEY_EXPIRED',
  'API_KEY_REVOKED',
  'INSUFFICIENT_SCOPE',
  'IP_NOT_ALLOWED',
];

const LIVE_ONLY: ErrorCode[] = ['KYC_REQUIRED', 'TWO_FACTOR_REQUIRED'];

function callerCodes({ auth, stepUp }: Route): ErrorCode[] {
  if (auth.by === 'public') return [];
  if (auth.by === 'operator') return stepUp ? [...ANY_KEY, 'STEP_UP_REQUIRED'] : ANY_KEY;
  if (auth.by === 'person' || auth.by === 'member') {
    const codes: ErrorCode[] = ['AUTHENTICATION_REQUIRED', 'INSUFFICIENT_SCOPE'];
    if (auth.by === 'member') codes.push('MERCHANT_SUSPENDED');
    if (SCOPES.some((scope) => 'permission' in auth && scope === auth.permission)) codes.push(...LIVE_ONLY);
    return stepUp ? [...codes, 'TWO_FACTOR_REQUIRED', 'STEP_UP_REQUIRED'] : codes;
  }
  const worksUnverified = SCOPES_BEFORE_VERIFICATION.includes(auth.scope);
  return [...ANY_KEY, 'MERCHANT_SUSPENDED', ...(worksUnverified ? [] : (['KYC_REQUIRED'] as const))];
}

type Described = { shape?: Record<string, z.core.$ZodType>; in?: z.core.$ZodType; innerType?: z.core.$ZodType };

/** The fields of an input, behind pipes and wrappers; none where there is no input. */
function fieldsOf(schema: z.core.$ZodType | undefined): Record<string, z.core.$ZodType> {
  const { shape, in: piped, innerType } = (schema?._zod.def ?? {}) as Described;
  return shape ?? (schema ? fieldsOf(piped ?? innerType) : {});
}
