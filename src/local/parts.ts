import type { Config } from '../config.ts';
import type { LocalPorts } from './settings.ts';
import type { Facts } from './state.ts';

/** Something that a local start starts after the servers and the migrations, and stops before them. */
export type Part = {
  /** As in the line that is printed with its time. */
  name: string;
  start: () => Promise<RunningPart>;
};

export type RunningPart = {
  stop: () => Promise<void>;
  /** What people should be told about it. */
  facts?: Facts;
};

export type PartsContext = {
  config: Config;
  ports: LocalPorts;
  /** What the last start wrote: keys that are shown only once are kept there. */
  previous: Facts;
  /** The owner's connection string, for what the application's role may not do. */
  ownerUrl: string;
};

/** Everything of a local start but the servers, in the order of starting. */
export function localParts(_context: PartsContext): Part[] {
  return [];
}
