import { useEffect, useEffectEvent, useState, type ReactNode } from 'react';

import { amharicOf } from './api-meanings.ts';
import { ApiText, InEnglish } from './api-text.tsx';
import { Note } from './badge.tsx';
import { Button } from './button.tsx';
import { CallFailure, type FieldIssue } from './call.ts';
import { formatDuration } from './format.ts';
import { meaningOf } from './issues.ts';
import { language } from './language.ts';
import { useOnline } from './online.ts';
import { text } from './text.ts';

type Problem = { code: string; message: string; details?: readonly FieldIssue[] };

/** Grey lines in the place of what is being loaded; they appear after 150 ms. */
export function Skeleton({ rows = 8 }: { rows?: number }) {
  return (
    <div role="status" aria-label={text.loading} className="flex flex-col gap-3 p-4">
      {Array.from({ length: rows }, (_row, index) => (
        <div key={index} className="skeleton h-6" />
      ))}
    </div>
  );
}

/** Why there is nothing, and the next step as its children. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-12 text-center">
      <p className="text-base font-semibold">{title}</p>
      <div className="flex max-w-prose flex-col items-center gap-3 text-quiet">{children}</div>
    </div>
  );
}

const secondsUntil = (at: number): number => Math.max(0, Math.ceil((at - Date.now()) / 1_000));

/**
 * What a failed call means, in a sentence of the page's language. The names of its fields are in English only. `isRepeated`:
 * the call is repeated by itself after a time that is shown beside it.
 */
export function failureText(error: unknown, { isRepeated = false } = {}): string {
  if (!(error instanceof CallFailure)) return text.failed;
  if (error.code === 'NETWORK') return text.noConnection;
  if (language === 'en') {
    // "Repeat the request in 2 s." gives way to the countdown.
    return (isRepeated ? error.message.replace(/ Repeat .*/s, '') : error.message) || text.failed;
  }
  const issues = new Set(error.details.map((one) => meaningOf(one).text));
  const wait =
    error.retryAt === undefined || isRepeated ? [] : [text.waitFor(formatDuration(secondsUntil(error.retryAt)))];
  return [amharicOf(error.code) ?? text.failed, ...issues, ...wait].join(' ');
}

const RETRIED_WITHIN_SECONDS = 60;

type Retry = { at: number; retry: () => void };

/** Counts down to the moment from which the API takes the call again, and then repeats it. */
function AutomaticRetry({ at, retry }: Retry) {
  const [first] = useState(() => Math.max(1, secondsUntil(at)));
  const [left, setLeft] = useState(first);
  const onSecond = useEffectEvent(() => {
    setLeft(Math.max(0, left - 1));
    if (left === 1) retry();
  });
  useEffect(() => {
    const timer = setInterval(() => onSecond(), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      {/* The alert is read aloud once, not with every second. */}
      <span className="sr-only">{text.retriesIn(formatDuration(first))}</span>
      <span aria-hidden="true">{text.retriesIn(formatDuration(left))}</span>
    </>
  );
}

/** An error of the API that stands in a response, by its code and those of its fields. */
export function ApiMessage({ code, message, details = [] }: Problem) {
  const amharic = amharicOf(code);
  return (
    <>
      <p>
        <ApiText text={message} amharic={amharic} />{' '}
        {language !== 'en' && details.map((one) => meaningOf(one).text).join(' ')}
      </p>
      {amharic !== undefined && <InEnglish text={message} />}
    </>
  );
}

/** What failed, the id for support, and a way to repeat it; what had no connection is repeated once there is one. */
export function Failed({ error, retry, children }: { error: unknown; retry?: () => void; children?: ReactNode }) {
  const { requestId = null, retryAt: at } = error instanceof CallFailure ? error : {};
  const isRepeated = retry !== undefined && at !== undefined && secondsUntil(at) <= RETRIED_WITHIN_SECONDS;
  useOnline(error instanceof CallFailure && error.code === 'NETWORK' ? retry : undefined);
  return (
    <div role="alert">
      <Note tone="bad">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <div>
            <p>
              {failureText(error, { isRepeated })} {children}{' '}
              {isRepeated && <AutomaticRetry key={at} at={at} retry={retry} />}
            </p>
            {requestId && (
              <p className="text-xs">
                {text.requestId} <code className="font-mono">{requestId}</code>
              </p>
            )}
            {error instanceof CallFailure && <InEnglish text={error.message} />}
          </div>
          {retry && (
            <Button onClick={retry} className="text-ink">
              {text.retry}
            </Button>
          )}
        </div>
      </Note>
    </div>
  );
}

type LoadedProps<Data> = {
  query: { data: Data | undefined; error: Error | null; refetch: () => Promise<unknown> };
  skeletonRows?: number;
  /** Whom to ask, for a person who may not see it. */
  whyNot?: string | undefined;
  children: (data: Data) => ReactNode;
};

/** The states of what is loaded: skeleton, failure, no permission, and its content, which stays when a later load fails. */
export function Loaded<Data>({ query, skeletonRows, whyNot, children }: LoadedProps<Data>) {
  const { data, error } = query;
  if (error instanceof CallFailure && error.status === 403) {
    if (error.code === 'TWO_FACTOR_REQUIRED') return <Empty title={text.twoFactorFirst} />;
    if (error.code === 'KYC_REQUIRED') return <Empty title={text.liveNotOpen} />;
    if (error.code === 'INSUFFICIENT_SCOPE') return <Empty title={text.notPermitted}>{whyNot}</Empty>;
  }
  if (error instanceof CallFailure && error.status === 404 && data === undefined) {
    return <Empty title={text.notFoundHere}>{text.notFoundHereHelp}</Empty>;
  }
  const retry = (): void => void query.refetch();
  return (
    <>
      {error && (
        <div className="p-3">
          <Failed error={error} retry={retry}>
            {data !== undefined && text.shownRowsStay}
          </Failed>
        </div>
      )}
      {data === undefined ? !error && <Skeleton {...(skeletonRows && { rows: skeletonRows })} /> : children(data)}
    </>
  );
}
