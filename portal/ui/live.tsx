import { useQueryClient, type Query, type QueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';

import type { ChangeKind } from '../../src/portal/changes.ts';
import { formatClock } from './format.ts';
import { onSessionEnded, untilSignedIn } from './session.ts';
import { text } from './text.ts';
import { ME } from './use-calls.ts';

/** The stream of the pages, and what they read again for its changes. */
export type Live = {
  address: string;
  headers: Readonly<Record<string, string>>;
  /** What the routes below these paths return changes with a resource of the kind. */
  paths: Readonly<Record<ChangeKind, readonly string[]>>;
};

/** What is shown is read again at most this often, however much changes. */
const READ_EVERY_MS = 2_000;
/** Without the stream for this long, what is shown is read in intervals. */
const GONE_MS = 10_000;
const POLL_EVERY_MS = 15_000;
/** Two heartbeats and some: a connection that is silent for longer is lost. */
const SILENT_MS = 60_000;
/** Browsers open few connections to one address: a page that is not looked at gives its own back. */
const HIDDEN_MS = 30_000;
const RETRY_MS = { first: 1_000, max: 15_000 };

type Change = { kind: ChangeKind; id: string | null };

/** Since when there has been no stream; null: there is one, or the page is not looked at. */
let goneSince: number | null = Date.now();
/** When what is shown was last read in an interval; null: changes are shown at once. */
let polledAt: number | null = null;
const listeners = new Set<() => void>();

function setPolledAt(at: number | null): void {
  polledAt = at;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Shows changes at once; while they do not arrive by themselves, that they are read in intervals, and of when the page is. */
export function Polled({ live }: { live: Live }) {
  const client = useQueryClient();
  useEffect(() => startLive(client, live), [client, live]);
  const at = useSyncExternalStore(subscribe, () => polledAt);
  return (
    <>
      <span role="status">{at !== null && text.polled}</span>
      {at !== null && <span>{text.asOf(formatClock(new Date(at), { seconds: true }))}</span>}
    </>
  );
}

let isStarted = false;

/** Whether a query below one of the paths may return something else. `ids`: of the changed resources; null: any. */
function isStale({ queryKey: [endpoint, input] }: Query, paths: readonly string[], ids: ReadonlySet<string> | null) {
  const isOfKind = paths.some((path) => String(endpoint).startsWith(`GET ${path}`)) && typeof input === 'object';
  const { params } = (input ?? {}) as { params?: Record<string, string> };
  return isOfKind && (!params || ids === null || Object.values(params).some((id) => ids.has(id)));
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function untilVisible(): Promise<void> {
  while (document.hidden) {
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
  }
}

/** Reads again what changes have made stale, at once and then at most every 2 s. */
function createRefresher(client: QueryClient, { paths }: Live): (changes: readonly Change[]) => void {
  let pending = new Map<ChangeKind, Set<string> | null>();
  let timer: number | undefined;
  let refreshedAt = 0;
  const refresh = (): void => {
    const changed = pending;
    pending = new Map();
    timer = undefined;
    refreshedAt = Date.now();
    void client.invalidateQueries({
      predicate: (query) => [...changed].some(([kind, ids]) => isStale(query, paths[kind], ids)),
    });
  };
  return (changes) => {
    for (const { kind, id } of changes) {
      const ids = pending.get(kind);
      if (id === null) pending.set(kind, null);
      else if (ids !== null) pending.set(kind, (ids ?? new Set()).add(id));
    }
    timer ??= window.setTimeout(refresh, Math.max(0, refreshedAt + READ_EVERY_MS - Date.now()));
  };
}

type Stream = Live & { onOpen: () => void; onChanges: (changes: readonly Change[]) => void };

/** Follows a stream until it is lost. Returns the status of a response that is none; 200: it was one. */
async function readStream({ address, headers, onOpen, onChanges }: Stream): Promise<number> {
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  let silent = setTimeout(leave, SILENT_MS);
  let hidden: number | undefined;
  const onVisibility = (): void => {
    clearTimeout(hidden);
    if (document.hidden) hidden = window.setTimeout(leave, HIDDEN_MS);
  };
  document.addEventListener('visibilitychange', onVisibility);
  try {
    const response = await fetch(address, {
      // Opened by the page, not by the person: no use of the session.
      headers: { ...headers, 'x-meskot-unattended': 'true' },
      signal: leaving.signal,
    });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      return response.status;
    }
    onOpen();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return 200;
      clearTimeout(silent);
      silent = setTimeout(leave, SILENT_MS);
      const messages = (text + value).split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) {
        if (message.startsWith('data: ')) onChanges(JSON.parse(message.slice('data: '.length)) as Change[]);
      }
    }
  } catch {
    return 0;
  } finally {
    clearTimeout(silent);
    clearTimeout(hidden);
    document.removeEventListener('visibilitychange', onVisibility);
  }
}

/** Shows changes at once from now on; without the stream, what is shown is read in intervals. */
function startLive(client: QueryClient, live: Live): void {
  if (isStarted) return;
  isStarted = true;
  const onChanges = createRefresher(client, live);
  const all = Object.values(live.paths).flat();
  const isCovered = (query: Query): boolean => isStale(query, all, null);
  const onOpen = (): void => {
    const openedAt = Date.now();
    goneSince = null;
    setPolledAt(null);
    // What was read before may have changed in between.
    const isOlder = (query: Query): boolean => query.state.dataUpdatedAt > 0 && query.state.dataUpdatedAt < openedAt;
    void client.invalidateQueries({ predicate: (query) => isCovered(query) && isOlder(query) });
  };
  const follow = async (): Promise<void> => {
    for (let pauseMs = RETRY_MS.first; ;) {
      await untilVisible();
      const startedAt = Date.now();
      goneSince ??= startedAt;
      const status = await readStream({ ...live, onOpen, onChanges });
      if (status === 401) {
        onSessionEnded();
        await untilSignedIn();
        continue;
      }
      // It also ends when the person is removed or gets another role.
      void client.invalidateQueries({ queryKey: ME });
      // Live is not open to this person yet.
      if (status === 400 || status === 403) {
        goneSince = null;
        return;
      }
      goneSince = document.hidden ? null : (goneSince ?? Date.now());
      pauseMs = status === 200 ? RETRY_MS.first : Math.min(pauseMs * 2, RETRY_MS.max);
      await sleep(pauseMs);
    }
  };
  const poll = async (): Promise<void> => {
    const now = Date.now();
    if (document.hidden || goneSince === null || now - goneSince < GONE_MS) return;
    if (polledAt !== null && now - polledAt < POLL_EVERY_MS) return;
    setPolledAt(now);
    await client.invalidateQueries({ predicate: isCovered });
  };
  setInterval(() => void poll(), 1_000);
  void follow();
}
