/** The time a test waits for a workflow or another condition before it fails with its name. */
export const WAIT_MS = 20_000;

/** Polls until the result is truthy and returns it. Throws after `withinMs`, naming the awaited condition `what`. */
export async function until<T>(
  what: string,
  poll: () => T | false | null | undefined | Promise<T | false | null | undefined>,
  withinMs = WAIT_MS,
): Promise<T> {
  const deadlineMs = Date.now() + withinMs;
  for (;;) {
    const result = await poll();
    if (result) return result;
    if (Date.now() > deadlineMs) throw new Error(`waited ${withinMs / 1_000} s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
