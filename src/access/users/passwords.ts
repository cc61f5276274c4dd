import { hash, verify } from '@node-rs/argon2';

/** argon2id, the default algorithm of the package, with OWASP's parameters. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Of no password. It is verified where an account does not exist, so that the response takes as long as any other. */
const NO_ACCOUNT = hash(crypto.randomUUID(), COST);

/** The hash to store, with its parameters and salt. */
export async function hashPassword(password: string): Promise<string> {
  return hash(password, COST);
}

/** Whether this is the password of the hash; takes as long without one. */
export async function isPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const matches = await verify(passwordHash ?? (await NO_ACCOUNT), password);
  return matches && passwordHash !== null;
}
