import { z } from 'zod';

const text = z.string().min(1).max(500);

/** A till, as the provider knows it. */
export const TillAccount = z.strictObject({ companyName: text, tillCode: text, token: text, hashKey: text });
export type TillAccount = z.output<typeof TillAccount>;
