import {
  keepPreviousData,
  QueryCache,
  QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useRef } from 'react';

import { CallFailure, createCall, type CallInput, type CallResult, type RouteTable } from './call.ts';

const RETRIES_MAX = 2;
const FRESH_MS = 5_000;

const mayRetry = (count: number, error: unknown): boolean =>
  count < RETRIES_MAX && error instanceof CallFailure && error.isTransient && error.status !== 429;

/** How often a screen is read again that no stream follows. */
export const REFRESH_MS = 15_000;

/** Where the signed-in person is in the cache. */
export const ME = ['me'];

/** The cache of what was read. Failures that may pass are repeated twice. `onForbidden`: the role does not include it. */
export const createQueryClient = (onForbidden: () => void): QueryClient =>
  new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (error instanceof CallFailure && error.code === 'INSUFFICIENT_SCOPE') onForbidden();
      },
    }),
    defaultOptions: {
      queries: { retry: mayRetry, retryDelay: 500, staleTime: FRESH_MS, networkMode: 'always' },
      mutations: { networkMode: 'always' },
    },
  });

/** What distinguishes a file from the one that was sent before. */
const fileText = ({ name, size, type, lastModified }: File): string => [name, size, type, lastModified].join(' ');

type ReadOptions = {
  /** Reads again after this time while the page is visible; false: not. */
  everyMs?: number | false;
  /** false: not yet. */
  enabled?: boolean;
};
type Given<Endpoint> = Omit<CallInput<Endpoint>, 'idempotencyKey' | 'signal'>;

let changedAt = 0;

/** When the person last changed something, or asked to see the present state: lists then show it. */
export const ownChangeAt = (): number => changedAt;
export function noteOwnChange(): void {
  changedAt = Date.now();
}

/** `call` of these routes, and the two hooks that screens use it by. */
export function createCalls<Routes extends RouteTable>(headers: HeadersInit = {}) {
  const call = createCall<Routes>(headers);

  /** Reads a route: the rows of before stay while others are loaded. */
  function useRead<Endpoint extends keyof Routes & `GET ${string}`>(
    endpoint: Endpoint,
    input: Given<Endpoint>,
    { everyMs = false, enabled = true }: ReadOptions = {},
  ) {
    return useQuery({
      queryKey: [endpoint, input],
      queryFn: ({ signal }) => call(endpoint, { ...input, signal } as CallInput<Endpoint>),
      placeholderData: keepPreviousData,
      refetchInterval: everyMs,
      enabled,
    });
  }

  /**
   * Changes something. The same input is sent with the same Idempotency-Key until it has a definite result, so that a
   * repetition after a lost response changes nothing more; a double click is one call. Afterwards everything shown is
   * read again.
   */
  function useChange<Endpoint extends keyof Routes & string>(endpoint: Endpoint) {
    const client = useQueryClient();
    type Wish = { text: string; key: string; sent: Promise<CallResult<Routes[Endpoint]>> | null };
    const wish = useRef<Wish>(null);
    const latest = useRef<object>(null);
    const mutation = useMutation({
      mutationFn: (input: Given<Endpoint>) => {
        const text = JSON.stringify(input, (_name, value) => (value instanceof File ? fileText(value) : value));
        if (wish.current?.text !== text) wish.current = { text, key: crypto.randomUUID(), sent: null };
        const own = wish.current;
        own.sent ??= call(endpoint, { ...input, idempotencyKey: own.key } as CallInput<Endpoint>).finally(() => {
          own.sent = null;
        });
        return own.sent;
      },
      retry: (count, error) => mayRetry(count, error),
      onSettled: (_result, error) => {
        if (!(error instanceof CallFailure && error.isTransient)) wish.current = null;
        noteOwnChange();
        return client.invalidateQueries();
      },
    });
    type Then = { onSuccess?: (result: CallResult<Routes[Endpoint]>) => void };
    /** `onSuccess` is called once for a double click, also where what was read again has no place for its button. */
    const mutate = (input: Given<Endpoint>, then: Then = {}): void => {
      latest.current = then;
      const onSuccess = (result: CallResult<Routes[Endpoint]>): void => {
        if (latest.current === then) then.onSuccess?.(result);
      };
      // The failure is that of the mutation.
      mutation.mutateAsync(input).then(onSuccess, () => {});
    };
    return { ...mutation, mutate };
  }

  return { call, useRead, useChange };
}
