import { isIP } from 'node:net';

import type { Middleware } from 'koa';

import { respond, type WireContext } from './protocol.ts';

/**
 * For whoever is at this machine: refuses what a page of another site makes a browser send here, and every name that
 * such a page could have made this machine's (DNS rebinding).
 */
export const fromThisMachineOnly: Middleware = async (ctx, next) => {
  const { hostname } = ctx;
  if (!isLoopback(hostname)) return reject(ctx, `ask by the name localhost or 127.0.0.1, not by ${hostname}`);
  if (isOfAnotherSite(ctx)) return reject(ctx, 'a page of another site may not ask this');
  if (ctx.method === 'POST' && !ctx.is('application/json')) {
    return respond(ctx, 415, { problems: ['Content-Type must be application/json'] });
  }
  await next();
};

/** For customers' browsers: the same but for the names, which are any that no page can take over, and the given one. */
export function fromOwnPagesOnly(publicUrl: string | null): Middleware {
  const publicName = publicUrl === null ? null : new URL(publicUrl).hostname;
  return async (ctx, next) => {
    const { hostname } = ctx;
    const isKnown = hostname === publicName || isLoopback(hostname) || isIP(bare(hostname)) !== 0;
    if (!isKnown && hostname.includes('.')) return reject(ctx, `${hostname} is not the name of this server`);
    if (ctx.method !== 'GET' && isOfAnotherSite(ctx)) return reject(ctx, 'a page of another site may not ask this');
    await next();
  };
}

function reject(ctx: WireContext, problem: string): void {
  respond(ctx, 403, { problems: [problem] });
}

/** By what browsers say of the page that asks; other programs say nothing of the kind. */
function isOfAnotherSite(ctx: WireContext): boolean {
  const site = ctx.get('sec-fetch-site');
  if (site !== '') return site !== 'same-origin' && site !== 'none';
  const origin = ctx.get('origin');
  return origin !== '' && (!URL.canParse(origin) || new URL(origin).host !== ctx.host);
}

function isLoopback(name: string): boolean {
  return (
    name === 'localhost' || name.endsWith('.localhost') || bare(name) === '::1' || /^127\.\d+\.\d+\.\d+$/.test(name)
  );
}

/** An IPv6 address stands in brackets. */
function bare(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
