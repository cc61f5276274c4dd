import type { KeyRing } from '../../src/lib/crypto.ts';

export const KEY_RING: KeyRing = { currentId: 'test', keys: new Map([['test', Buffer.alloc(32, 7)]]) };
