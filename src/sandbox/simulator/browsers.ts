import { isIP } from 'node:net';

import type { Middleware } from 'koa';

import { respond, type Context } from './protocol.ts';

/**
 * Admits requests from this machine only: rejects requests that another site's page makes a browser send, and host
 * names that such a page could have pointed at this machine (DNS rebinding).
 */
export const fromThisMachineOnly: Middleware = async (ctx, next) => {
  const { hostname } = ctx;
  if (!isLoopback(hostname)) return reject(ctx, `Use the name localhost or 127.0.0.1, not ${hostname}.`);
  if (isCrossSite(ctx)) return reject(ctx, 'Pages of other sites cannot call this.');
  if (ctx.method === 'POST' && !ctx.is('application/json')) {
    return respond(ctx, 415, { problems: ['Content-Type must be application/json'] });
  }
  await next();
};

/** The same for customers' browsers, which may also use the public name and names that no page can take over. */
export function fromOwnPagesOnly(publicUrl: string | null): Middleware {
  const publicName = publicUrl === null ? null : new URL(publicUrl).hostname;
  return async (ctx, next) => {
    const { hostname } = ctx;
    const isKnown = hostname === publicName || isLoopback(hostname) || isIP(bare(hostname)) !== 0;
    if (!isKnown && hostname.includes('.')) return reject(ctx, `${hostname} is not the name of this server.`);
    if (ctx.method !== 'GET' && isCrossSite(ctx)) return reject(ctx, 'Pages of other sites cannot call this.');
    await next();
  };
}

function reject(ctx: Context, problem: string): void {
  respond(ctx, 403, { problems: [problem] });
}

/** Browsers name the requesting page's site in headers; other programs send none. */
function isCrossSite(ctx: Context): boolean {
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

/** IPv6 addresses are in brackets. */
function bare(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
