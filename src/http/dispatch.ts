import Router, { type RouterContext } from '@koa/router';
import type { Context, Middleware } from 'koa';

import { AppError } from '../lib/errors.ts';
import type { Route } from './route.ts';

/**
 * Routes each request. @koa/router tries the patterns of its routes one by one, which for all of them takes as long as the
 * rest of the stack. So a path without parameters is looked up in a map, and any other is tried only against the routes
 * of its shape. Without a match the next middleware runs; `ctx.matched` then lists routes of another method.
 */
export function createDispatch(
  routes: readonly Route[],
  createRouteMiddleware: (route: Route) => Middleware,
): Middleware {
  const literal = new Map<string, { path: string; middleware: Middleware }>();
  const routers = new Map<string, Router>();
  // Literal paths come first: /txns/get_all_txns is not a /txns/:transactionId.
  for (const route of routes.toSorted((a, b) => parameterCount(a) - parameterCount(b))) {
    const { method, path } = route;
    const middleware = createRouteMiddleware(route);
    if (parameterCount(route) === 0) literal.set(`${method} ${path}`, { path, middleware });
    const shape = shapeOf(path);
    if (shape.includes(':')) throw new Error(`${path} must not have a parameter as its second part`);
    const router = routers.get(shape) ?? new Router({ sensitive: true, strict: true });
    routers.set(shape, router);
    router.register(path, [method], middleware);
  }
  const byShape = new Map([...routers].map(([shape, router]) => [shape, router.routes()]));

  return (ctx, next) => {
    const found = literal.get(`${ctx.method} ${ctx.path}`);
    if (!found) return byShape.get(shapeOf(ctx.path))?.(ctx as RouterContext, next) ?? next();
    ctx['params'] = {};
    ctx['_matchedRoute'] = found.path;
    return found.middleware(ctx, next);
  };
}

function parameterCount({ path }: Route): number {
  return path.split(':').length - 1;
}

const SEGMENTS_MAX = 20;

/** The number of segments of a path, and the second one, which is never a parameter: `4 checkout`. */
function shapeOf(path: string): string {
  const segments = path.split('/', SEGMENTS_MAX);
  return `${segments.length} ${segments[2] ?? ''}`;
}

const PATH_CHARACTERS_MAX = 200;

/** The 404 of a path that no route has. */
export function unknownPath({ method, path }: Context): AppError {
  const shown = path.length > PATH_CHARACTERS_MAX ? `${path.slice(0, PATH_CHARACTERS_MAX)}…` : path;
  return new AppError('NOT_FOUND', `There is no ${method} ${shown}. All paths are listed at /docs.`);
}

/** The innermost middleware, reached without a matching route: 405 with Allow if the path exists, else 404. */
export const rejectUnknown: Middleware = async (ctx) => {
  const matched: { methods: string[] }[] = ctx['matched'] ?? [];
  const allowed = [...new Set(matched.flatMap((layer) => layer.methods))].toSorted().join(', ');
  if (allowed === '') throw unknownPath(ctx);
  throw new AppError('METHOD_NOT_ALLOWED', `This path takes ${allowed}, got ${ctx.method}.`, {
    headers: { Allow: allowed },
  });
};
