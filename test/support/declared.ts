import { recordAnswer } from './record-answers.ts';

/**
 * A route with all statuses of its responses and all codes of its errors; variable parts of its path are `:name` or
 * `{name}`.
 */
export type Declared = {
  operationId: string;
  method: string;
  path: string;
  statuses: readonly number[];
  codes: readonly string[];
};

/**
 * Fails a test whose response has a status or a code that its route does not declare, so that the docs list all of
 * them.
 */
export function requireDeclared(
  declared: readonly Declared[],
  sent: { method: string; path: string; status: number; body?: { error?: { code: string } } },
): void {
  const pathname = sent.path.split('?')[0] ?? '';
  const route = declared
    .filter((one) => one.method === sent.method && matches(one.path, pathname))
    .toSorted((a, b) => variableParts(a.path) - variableParts(b.path))[0];
  if (!route) return;
  const { status, body } = sent;
  const code = body?.error?.code;
  recordAnswer(route.operationId, sent);
  if (code === undefined ? route.statuses.includes(status) : route.codes.includes(code)) return;
  throw new Error(`${route.operationId} answered ${code ?? status}, which it does not declare`);
}

const isVariable = (part: string): boolean => /^[:{]/.test(part);

/** As in the server, a literal path comes before one with parameters. */
function variableParts(pattern: string): number {
  return pattern.split('/').filter(isVariable).length;
}

function matches(pattern: string, pathname: string): boolean {
  const parts = pattern.split('/');
  const given = pathname.split('/');
  return parts.length === given.length && parts.every((part, index) => isVariable(part) || part === given[index]);
}
