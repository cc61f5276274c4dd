/** A route and every status it says it answers with; parts of its path that vary are `:name` or `{name}`. */
export type Declared = { operationId: string; method: string; path: string; statuses: readonly number[] };

/** Fails a test whose answer has a status that its route does not declare, so that the docs tell of every one. */
export function requireDeclared(
  declared: readonly Declared[],
  sent: { method: string; path: string; status: number },
): void {
  const pathname = sent.path.split('?')[0] ?? '';
  const route = declared
    .filter((one) => one.method === sent.method && matches(one.path, pathname))
    .toSorted((a, b) => variableParts(a.path) - variableParts(b.path))[0];
  if (!route || route.statuses.includes(sent.status)) return;
  throw new Error(`${route.operationId} answered ${sent.status}, which it does not declare`);
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
