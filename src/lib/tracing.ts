/** Ids, codes, routes and times: no values, no names, no secrets, and nothing that a caller or receiver has written. */
type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A step of a trace. `parent`: a W3C traceparent; null begins a trace of its own; without it, the running step. */
export type Span = {
  name: string;
  kind: 'server' | 'client' | 'producer' | 'consumer';
  parent?: string | null | undefined;
  attributes?: Attributes;
};

/** What is known of a span at its end. */
export type Note = (known: { name?: string; hasFailed?: boolean; attributes?: Attributes }) => void;

/**
 * Records the steps of a request across processes. An interface, so that the packages of traces are loaded only by processes
 * that export them (src/app/tracing.ts).
 */
export type Tracing = {
  isOn: boolean;
  /** Does the work as a step of the trace; an error that it throws marks the step as failed. */
  run: <Result>(span: Span, work: (note: Note) => Promise<Result>) => Promise<Result>;
  /** The running step as W3C traceparent; null: there is none. */
  current: () => string | null;
  /** Exports what is left, for 2 s at most. */
  stop: () => Promise<void>;
};

export const NO_TRACING: Tracing = {
  isOn: false,
  run: async (_span, work) => work(() => {}),
  current: () => null,
  stop: async () => {},
};
