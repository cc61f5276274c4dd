import { z } from 'zod';

import { ERROR_STATUS, type ErrorCode } from '../../src/lib/errors.ts';
import { EXAMPLES, productDocument, productRoutes, walk, type Node } from './document.ts';

type Media = { example?: unknown; examples?: Record<string, { $ref?: string; value: Refusal }> };
type Refusal = {
  statusCode: number;
  message: string;
  data: null;
  error: { code: ErrorCode; details: object[]; docUrl: string; existing?: object };
};
type Answer = { description: string; content: Record<string, Media> };
type Described = {
  operationId: string;
  requestBody?: { required?: boolean };
  responses: Record<string, Answer>;
};

const routes = productRoutes();
const document = productDocument(routes);
const operations = Object.values(document['paths'] as Record<string, Record<string, Described>>).flatMap((methods) =>
  Object.values(methods),
);
const isRejected = (status: string): boolean => Number(status) >= 400;

const errors = operations.flatMap(({ operationId, responses }) =>
  Object.entries(responses)
    .filter(([status]) => isRejected(status))
    .map(([status, answer]) => ({ operationId, status: Number(status), answer })),
);

const common = (document['components'] as { examples: Record<string, { value: Refusal }> }).examples;

/** The examples of a refusal by code, those that all routes share looked up. */
const examplesOf = (answer: Answer): [string, { value: Refusal }][] =>
  Object.entries(answer.content['application/json']?.examples ?? {}).map(([code, example]) => {
    const shared = example.$ref?.replace('#/components/examples/', '');
    return [code, shared === undefined ? example : (common[shared] ?? example)];
  });

describe('each error response in the API description', () => {
  test('has one example of each of its codes, with that code and its status', () => {
    for (const { operationId, status, answer } of errors) {
      const examples = examplesOf(answer);
      expect([operationId, status, examples.length]).not.toEqual([operationId, status, 0]);
      for (const [code, { value }] of examples) {
        expect({ operationId, code: value.error.code, statusCode: value.statusCode }).toEqual({
          operationId,
          code,
          statusCode: status,
        });
        expect(value.message).toMatch(/\w+ \w+ \w+/);
        expect(ERROR_STATUS[value.error.code]).toBe(status);
        expect(value.error.docUrl).toBe(`http://meskot.test/docs/errors#${code}`);
        expect(answer.description).toContain(`\`${code}\``);
      }
    }
  });

  test('lists its codes in its description, and no others', () => {
    for (const { answer } of errors) {
      const named = [...answer.description.matchAll(/^- `([A-Z_]+)`/gm)].map(([, code]) => code);
      expect(named).toEqual(Object.keys(answer.content['application/json']?.examples ?? {}));
    }
  });

  test('has its own text where the operation decides, not that of another resource', () => {
    const general = errors.flatMap(({ operationId, answer }) =>
      examplesOf(answer)
        .filter(([code]) => code === 'INVALID_STATE' || code === 'DUPLICATE_REFERENCE')
        .filter(([, { value }]) => /^It cannot be done|^The reference is already used/.test(value.message))
        .map(([code]) => `${operationId} ${code}: add its text to docs/examples.json`),
    );
    expect(general).toEqual([]);
  });

  test('describes only what its route can do: idempotency for writes, JSON for JSON routes', () => {
    const codesOf = (operationId: string): string[] =>
      errors
        .filter((one) => one.operationId === operationId)
        .flatMap(({ answer }) => Object.keys(answer.content['application/json']?.examples ?? {}));
    expect(codesOf('getBalance')).toEqual([
      'VALIDATION_ERROR',
      'AUTHENTICATION_REQUIRED',
      'INVALID_API_KEY',
      'API_KEY_EXPIRED',
      'API_KEY_REVOKED',
      'INSUFFICIENT_SCOPE',
      'IP_NOT_ALLOWED',
      'KYC_REQUIRED',
      'MERCHANT_SUSPENDED',
      'RATE_LIMITED',
      'INTERNAL_ERROR',
      'SERVICE_UNAVAILABLE',
    ]);
    expect(codesOf('uploadKycDocument')).not.toContain('INVALID_JSON');
    expect(codesOf('uploadKycDocument')).not.toContain('KYC_REQUIRED');
    expect(codesOf('opsCreateMerchant')).not.toContain('KYC_REQUIRED');
    expect(codesOf('opsCreateMerchant')).not.toContain('MERCHANT_SUSPENDED');
    expect(codesOf('listTransactions')).toEqual(
      expect.arrayContaining(['UNSUPPORTED_CURRENCY', 'DATE_RANGE_TOO_WIDE']),
    );
    expect(codesOf('createSession')).toEqual(expect.arrayContaining(['DUPLICATE_REFERENCE', 'AMOUNT_ABOVE_MAXIMUM']));
    expect(codesOf('createSession')).not.toContain('INSUFFICIENT_BALANCE');
    expect(codesOf('getLiveness')).toEqual(['VALIDATION_ERROR', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE']);
  });
});

describe('each success response in the API description', () => {
  const responses = routes.flatMap((route) =>
    Object.entries(route.responses).map(([status, data]) => ({ route, status, data: data as z.ZodType })),
  );

  test('has a recorded example with its own status that matches its schema', () => {
    const wrong: string[] = [];
    for (const { route, status, data } of responses) {
      const described = operations.find(({ operationId }) => operationId === route.operationId);
      const media = described?.responses[status]?.content['application/json'];
      // A file has another content type.
      if (!media || route.fileTypes) continue;
      const name = `${route.operationId} ${status}`;
      const example = media.example as { statusCode: number; data: unknown; pagination?: unknown } | undefined;
      if (!example) wrong.push(`${name} has none: record one (test/docs/choose-answers.ts)`);
      else if (example.statusCode !== Number(status)) wrong.push(`${name} is of another status`);
      else if (route.paginated !== undefined && !example.pagination) wrong.push(`${name} lacks its pagination`);
      else {
        const parsed = strict(data).safeParse(example.data);
        if (!parsed.success) wrong.push(`${name}: ${z.prettifyError(parsed.error)}: record it again`);
      }
    }
    expect(wrong).toEqual([]);
    expect(responses.length).toBeGreaterThan(120);
  });

  test('allows additional fields, so that clients do not reject later ones', () => {
    const closed = operations.flatMap(({ operationId, responses }) =>
      [...walk(responses)]
        .filter(({ node, path }) => node['additionalProperties'] === false && !path.includes('/example'))
        .map(() => operationId),
    );
    expect(closed).toEqual([]);
    expect([...walk(document['paths'])].some(({ node }) => node['additionalProperties'] === false)).toBe(true);
  });

  test('contains no key, no secret and no invented number', () => {
    const text = JSON.stringify(document);
    expect(text.includes(String(Number.MAX_SAFE_INTEGER))).toBe(false);
    expect(text.match(/\b(?:[sr]k_(?:test|live)|ok)_[0-9A-Za-z]{20,}|whsec_[A-Za-z0-9+/]{8,}/g)).toBeNull();
  });
});

/** A schema that refuses what it does not declare, at its top; deeper it leaves out what it does not know. */
function strict(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) return schema.strict();
  if (schema instanceof z.ZodArray) return z.array(strict(schema.element as z.ZodType));
  return schema;
}

test('a request body is required unless all its fields are optional', () => {
  const required = (operationId: string): unknown =>
    operations.find((operation) => operation.operationId === operationId)?.requestBody?.required;
  expect(['createSession', 'createWithdrawal', 'opsSuspendMerchant'].map(required)).toEqual([true, true, true]);
  expect(['resendWebhookEvent', 'rotateWebhookSecret', 'claimCancel'].map(required)).toEqual([false, false, false]);
});

test('each example of a field is valid for the field', () => {
  const wrong = [...walk(document['components']), ...walk(document['paths'])].flatMap(({ node, path }) => {
    if (path.includes('/example') || typeof node['type'] !== 'string' || node['example'] === undefined) return [];
    return fits(node) ? [] : [`${path}: ${JSON.stringify(node['example'])}`];
  });
  expect(wrong).toEqual([]);
});

function fits({ type, example, minimum, maximum }: Node): boolean {
  if (type === 'integer' || type === 'number') {
    return (
      typeof example === 'number' && example >= Number(minimum ?? -Infinity) && example <= Number(maximum ?? Infinity)
    );
  }
  return type === 'string' ? typeof example === 'string' : true;
}

test('the example of a body is accepted by its route', () => {
  const routes = productRoutes();
  for (const [operationId, example] of Object.entries(EXAMPLES.bodies)) {
    const route = routes.find((one) => one.operationId === operationId);
    expect({ operationId, issues: route?.body?.safeParse(example).error?.issues }).toEqual({ operationId });
    expect(route?.body).toBeDefined();
  }
});
