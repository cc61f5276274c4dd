import { createSender, type SenderOptions, type SendResult } from '../../src/webhooks/delivery/send.ts';
import { createEgressGuard } from '../../src/webhooks/egress/egress.ts';
import { startReceiver, type Receiver } from './receiver.ts';

const cleanups: (() => Promise<unknown>)[] = [];

/** Registers a cleanup, which runs before those registered earlier. */
export function later(cleanup: () => Promise<unknown>): void {
  cleanups.unshift(cleanup);
}

/** Runs all cleanups; for `afterEach`. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0)) await cleanup();
}

/** A receiver, closed by `cleanUp`. */
export async function receiver(options: { tls?: boolean } = {}): Promise<Receiver> {
  const started = await startReceiver(options);
  later(started.close);
  return started;
}

/** A sender that may connect to loopback, and to these ports elsewhere; `post` also returns the elapsed time. */
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

/** Matches a failed result with this code and message. */
export function failed(code: string, message: RegExp): object {
  return { ok: false, failure: { code, message: expect.stringMatching(message) } };
}
