import { createCall } from '../ui/call.ts';
import type { Routes } from './routes.ts';

/** The signed-in operator, who is read while the scripts of the screens are loaded. */
export const me = createCall<Routes>()('GET /api/ops/me', {});
// The pages show why it has failed, once they are there.
me.catch(() => {});
