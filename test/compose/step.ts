let isBroken = false;

/** A test that goes on where the one before has ended: after a failure, none of the later ones could say anything. */
export const step = (name: string, run: () => Promise<unknown>, timeoutMs: number): void =>
  test(
    name,
    async () => {
      if (isBroken) throw Object.assign(new Error(), { stack: 'not run: a step before it has failed' });
      isBroken = true;
      await run();
      isBroken = false;
    },
    timeoutMs,
  );
