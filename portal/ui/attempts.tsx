import type { z } from 'zod';

import type { Attempt as AttemptSchema } from '../../src/webhooks/events/schema.ts';
import { adviceOf } from './advice.ts';
import { amharicOf } from './api-meanings.ts';
import { ApiText } from './api-text.tsx';
import { Badge } from './badge.tsx';
import { CodeBlock } from './copy.tsx';
import { text } from './delivery-text.ts';
import { Time } from './time.tsx';

type Attempt = z.output<typeof AttemptSchema>;

type LogProps = {
  eventId: string;
  attempts: readonly Attempt[];
  /** Before the advice, which addresses the merchant. */
  adviceTitle?: string;
};

/** The attempts of one delivery of an event, the newest first. */
export function AttemptLog({ eventId, attempts, adviceTitle = text.whatToDo }: LogProps) {
  if (attempts.length === 0) return <p className="text-quiet">{text.noAttempts}</p>;
  return (
    <ol className="flex flex-col gap-3">
      {attempts.toReversed().map((attempt) => (
        <AttemptPart key={attempt.attemptId} attempt={attempt} eventId={eventId} adviceTitle={adviceTitle} />
      ))}
    </ol>
  );
}

const SOURCES = { auto: null, manual: text.manual, operator: text.operator };

type PartProps = { attempt: Attempt; eventId: string; adviceTitle: string };

function AttemptPart({ attempt, eventId, adviceTitle }: PartProps) {
  const { sequence, trigger, reason, startedAt, httpStatus, failure, durationMs } = attempt;
  return (
    <li className="flex flex-col gap-2 border-t border-line pt-3">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-semibold">{text.attempt(sequence)}</span>
        {durationMs === null ? (
          <Badge tone="info">{text.inFlight}</Badge>
        ) : (
          <Badge tone={failure ? 'bad' : 'good'}>{httpStatus ?? failure?.code}</Badge>
        )}
        {SOURCES[trigger] && <Badge tone="quiet">{SOURCES[trigger]}</Badge>}
        <span className="ms-auto text-xs text-quiet">
          <Time at={startedAt} seconds />
        </span>
      </div>
      {reason !== null && <p className="text-quiet">{text.because(reason)}</p>}
      {failure && (
        <p>
          <ApiText text={failure.message} amharic={amharicOf(failure.code)} />{' '}
          <span className="text-quiet">
            {adviceTitle}: {adviceOf(failure.code, httpStatus)}
          </span>
        </p>
      )}
      <Timings attempt={attempt} />
      <Exchange attempt={attempt} eventId={eventId} />
    </li>
  );
}

const PHASES = [
  ['dnsMs', text.dns, 'fill-info'],
  ['connectMs', text.connect, 'fill-warn'],
  ['tlsMs', text.tls, 'fill-brand'],
  ['firstByteMs', text.firstByte, 'fill-strong-line'],
] as const;

/** How long each part of the exchange took, as bars beside their numbers. */
function Timings({ attempt: { timings, durationMs } }: { attempt: Attempt }) {
  if (timings === null || durationMs === null || durationMs === 0) return null;
  const phases = PHASES.map(([name, label, fill]) => ({
    label,
    fill,
    ms: timings[name] ?? null,
  }));
  const known = phases.filter((phase) => phase.ms !== null);
  const total = Math.max(durationMs, ...known.map(({ ms }) => ms ?? 0));
  return (
    <dl className="grid grid-cols-[auto_1fr_auto] items-center gap-x-3 gap-y-1 text-xs">
      {known.map(({ label, fill, ms }) => (
        <div key={label} className="contents">
          <dt className="text-quiet">{label}</dt>
          <dd aria-hidden="true">
            <svg viewBox="0 0 100 4" preserveAspectRatio="none" className="h-1.5 w-full rounded bg-sunken">
              <rect width={((ms ?? 0) / total) * 100} height="4" className={fill} />
            </svg>
          </dd>
          <dd className="text-end tabular-nums">{text.milliseconds(Math.round(ms ?? 0))}</dd>
        </div>
      ))}
    </dl>
  );
}

const lines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

/** What was sent and answered. Signatures are not stored; the secret's last letters tell which one made them. */
function Exchange({ attempt, eventId }: { attempt: Attempt; eventId: string }) {
  const { responseHeaders, responseExcerpt, secretHint, startedAt, httpStatus } = attempt;
  const signature = `(${text.signedWith(secretHint)})`;
  const request = {
    'Content-Type': 'application/json',
    'User-Agent': 'Meskot-Webhooks/1.0',
    'X-Service-Event-Id': eventId,
    'X-Service-Signature': signature,
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(Date.parse(startedAt) / 1_000)),
    'webhook-signature': signature,
  };
  return (
    <details>
      <summary className="text-brand">{text.details}</summary>
      <div className="mt-2 flex flex-col gap-2">
        <p className="text-quiet">{text.requestHeaders}</p>
        <CodeBlock value={lines(request)} name={text.requestHeaders} />
        {httpStatus !== null && responseHeaders && (
          <>
            <p className="text-quiet">{text.responseHeaders}</p>
            <CodeBlock value={lines(responseHeaders)} name={text.responseHeaders} />
            <p className="text-quiet">{text.response}</p>
            {responseExcerpt ? <CodeBlock value={responseExcerpt} name={text.response} /> : <p>{text.noBody}</p>}
          </>
        )}
      </div>
    </details>
  );
}
