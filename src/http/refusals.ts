import { ERROR_STATUS } from '../lib/errors.ts';
import type { Route } from './route.ts';

/** Whether a route honours Idempotency-Key. */
export function isIdempotent(route: Route): boolean {
  return 'write' in route && route.method === 'POST' && route.auth.by !== 'nobody';
}

/** Every status a route may refuse with: what follows from its shape, and what its operation declares beside that. */
export function refusalStatuses(route: Route): number[] {
  const statuses = new Set<number>([400, 500, 503]);
  if (route.rateLimit !== 'none') statuses.add(429);
  if (route.auth.by !== 'nobody') statuses.add(401).add(403);
  if (route.params) statuses.add(404);
  if (route.method !== 'GET') statuses.add(413).add(415);
  if (isIdempotent(route)) statuses.add(409).add(422);
  for (const code of route.refusals ?? []) statuses.add(ERROR_STATUS[code]);
  return [...statuses].toSorted((a, b) => a - b);
}
