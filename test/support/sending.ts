import { createSender, type SenderOptions, type SendResult } from '../../src/webhooks/delivery/send.ts';
import { createEgressGuard } from '../../src/webhooks/egress/egress.ts';
import { startReceiver, type Receiver } from './receiver.ts';

const cleanups: (() => Promise<unknown>)[] = [];

/** Runs this when `cleanUp` is called, before what was added earlier. */
export function later(cleanup: () => Promise<unknown>): void {
  cleanups.unshift(cleanup);
}

/** Closes all that was started here; for `afterEach`. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0)) await cleanup();
}

/** A receiver that lasts until `cleanUp`. */
export async function receiver(options: { tls?: boolean } = {}): Promise<Receiver> {
  const started = await startReceiver(options);
  later(started.close);
  return started;
}

/** A sender that may use loopback, and these ports elsewhere; `post` also tells how long it took in all. */
export function sender(options: Partial<SenderOptions> & { ports?: number[]; allowLoopback?: boolean } = {}) {
  const { ports = [443], allowLoopback = true, ...more } = options;
  const guard = createEgressGuard({ allowLoopback, ports, deny: [] });
  const started = createSender({ guard, ...more });
  later(started.close);
  const post = async (url: string, body = '{"event_id":"evt_1"}'): Promise<SendResult & { elapsedMs: number }> => {
    const since = performance.now();
    const headers = { 'Content-Type': 'application/json', 'X-Service-Event-Id': 'evt_1' };
    const result = await started.send({ url, headers, body: Buffer.from(body) });
    return { ...result, elapsedMs: performance.now() - since };
  };
  return { ...started, post };
}

/** What a failed result matches. */
export function failed(code: string, message: RegExp): object {
  return { ok: false, failure: { code, message: expect.stringMatching(message) } };
}

/** Waits for a condition, at most 5 s. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('the condition did not come true within 5 s');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
