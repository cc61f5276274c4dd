import Router from '@koa/router';
import type { Context } from 'koa';

import { readBody } from '../lib/body.ts';
import type { Logger } from '../lib/log.ts';
import type { Environment } from '../lib/owner.ts';
import type { Channel, FindProvider, ParsedCallback, Provider } from './provider.ts';
import type { CallbackRow } from './store-callback.ts';

const BODY_BYTES_MAX = 65_536;
const SECRET_LENGTH_MAX = 128;
const SEND_AGAIN = 'Not handled. Please send it again.';

export type CallbackAttempt = { attemptId: string; channel: Channel; environment: Environment };

type CallbackDeps = {
  findAttemptBySecret: (secret: string) => Promise<CallbackAttempt | null>;
  findProvider: FindProvider;
  storeCallback: (row: CallbackRow) => Promise<void>;
  /**
   * Asks the provider about the attempt: what a callback says is never taken for true. Returns whether the provider
   * gave a definite answer, or the attempt is paid.
   */
  onCallback: (attemptId: string, callback: { verified: boolean }) => Promise<boolean>;
  log: Pick<Logger, 'info' | 'error'>;
};

/** The address a provider is told to call for this attempt. */
export function callbackUrl(baseUrl: string, attempt: { channel: Channel; secret: string }): string {
  return `${baseUrl.replace(/\/+$/, '')}/api/providers/${attempt.channel}/callback/${attempt.secret}`;
}

/**
 * POST /api/providers/:channel/callback/:secret. It reads the body itself, as bytes, so mount it before any body
 * parser. The provider gets its answer only when the callback is stored and the check was made, for a genuine one only
 * when the check was also answered; otherwise it gets a 500, and so calls again.
 */
export function createCallbackRouter(deps: CallbackDeps): Router {
  const router = new Router();
  router.post('/api/providers/:channel/callback/:secret', async (ctx) => {
    try {
      await receive(deps, ctx, { channel: ctx.params['channel'], secret: ctx.params['secret'] });
    } catch (error) {
      deps.log.error({ err: error, channel: ctx.params['channel'] }, 'a callback could not be handled');
      answerPlain(ctx, 500, SEND_AGAIN);
    }
  });
  return router;
}

async function receive(
  deps: CallbackDeps,
  ctx: Context,
  path: { channel: string | undefined; secret: string | undefined },
): Promise<void> {
  const { secret = '' } = path;
  const known = secret.length <= SECRET_LENGTH_MAX ? await deps.findAttemptBySecret(secret) : null;
  const attempt = known?.channel === path.channel ? known : null;
  const provider = attempt && deps.findProvider(attempt.channel, attempt.environment);
  if (!attempt || !provider) return answerPlain(ctx, 404, 'Not found');

  const body = await readBody(ctx.req.iterator({ destroyOnReturn: false }), BODY_BYTES_MAX);
  if (body === null) {
    // What is left unread of it would be taken for the next request.
    ctx.set('Connection', 'close');
    return answerPlain(ctx, 413, `More than ${BODY_BYTES_MAX} bytes`);
  }

  const { attemptId, channel } = attempt;
  const parsed = ofAttempt(provider.parseCallback({ headers: ctx.headers, body }), attemptId);
  const { verified } = parsed;
  const problem = parsed.verified ? null : parsed.problem;
  await deps.storeCallback({ attemptId, channel, body, verified, problem });
  deps.log.info({ attemptId, channel, verified, problem }, 'callback stored');
  const answered = await deps.onCallback(attemptId, { verified });
  if (answered || !verified) return answerProvider(ctx, provider);
  deps.log.info({ attemptId, channel }, 'the provider did not answer the check of its own callback');
  answerPlain(ctx, 500, SEND_AGAIN);
}

/** A genuine callback sent to another attempt's address is not about this attempt. */
function ofAttempt(parsed: ParsedCallback, attemptId: string): ParsedCallback {
  if (!parsed.verified || parsed.orderId === attemptId) return parsed;
  return { verified: false, problem: 'it names another order' };
}

function answerProvider(ctx: Context, provider: Provider): void {
  ctx.status = 200;
  ctx.type = provider.callbackAnswer.contentType;
  ctx.body = provider.callbackAnswer.body;
}

function answerPlain(ctx: Context, status: number, text: string): void {
  ctx.status = status;
  ctx.type = 'text/plain';
  ctx.body = text;
}
