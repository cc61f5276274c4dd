import type { Environment } from '../../src/lib/scope.ts';

/** The environments by their part of the address. Changing it loads the page afresh, so that their data never mixes. */
export const BASES = { sandbox: '/test', live: '/live' } as const;

/** The environment of this page. */
export const environment: Environment = location.pathname.split('/', 2)[1] === 'live' ? 'live' : 'sandbox';
/** The beginning of every address in it. */
export const base = BASES[environment];
export const otherEnvironment: Environment = environment === 'live' ? 'sandbox' : 'live';
export const otherBase = BASES[otherEnvironment];
