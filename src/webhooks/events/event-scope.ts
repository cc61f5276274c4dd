import { z } from 'zod';

/** What every event's `data` starts with: whose it is, and how new the snapshot is. */
export const scope = {
  environment: z.enum(['sandbox', 'live']),
  merchantId: z.string(),
  version: z.int().min(1).meta({ description: 'Rises with every change of the object: the highest is the newest' }),
};
