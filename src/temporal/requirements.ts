import { isGrpcServiceError, type Connection } from '@temporalio/client';
import { SearchAttributeType } from '@temporalio/common';
import type { NativeConnection } from '@temporalio/worker';

import type { Config, TaskQueue } from '../config.ts';

const { INT, KEYWORD } = SearchAttributeType;
/** Shared by all workflow types, for operators' filters. 10 Keyword columns exist. */
export const SEARCH_ATTRIBUTES = {
  BusinessStatus: KEYWORD,
  MerchantId: KEYWORD,
  Environment: KEYWORD,
  EventType: KEYWORD,
  SubscriptionId: KEYWORD,
  Channel: KEYWORD,
  CheckoutOrderNo: KEYWORD,
  ReceiverHost: KEYWORD,
  LastHttpStatus: INT,
} as const;
export type SearchAttribute = keyof typeof SEARCH_ATTRIBUTES;
/** temporal.api.enums.v1.IndexedValueType, the name of the command line, and a value that no workflow has. */
const TYPES = {
  [KEYWORD]: { indexedAs: 2, typeName: 'Keyword', nobodys: "'-'" },
  [INT]: { indexedAs: 3, typeName: 'Int', nobodys: '-1' },
};
export const indexedAs = (name: SearchAttribute): number => TYPES[SEARCH_ATTRIBUTES[name]].indexedAs;

/** A schedule by the clock of Addis Ababa. */
export type Schedule = {
  /** Of its workflow, and after the queues' prefix the schedule's id. */
  workflowType: string;
  queue: TaskQueue;
  /** `*`: every hour, at its beginning. */
  hour: number | '*';
  summary: string;
  /** What does not happen while it is paused or missing. */
  without: string;
};
export const NIGHTLY: Schedule = {
  workflowType: 'nightlyReconciliation',
  queue: 'money',
  hour: 2,
  summary: "Requests reconciliation of the last days with the providers' statements",
  without: 'days are not reconciled by themselves',
};
/** One for all reports, which asks the rows: a month of the Ethiopian calendar is no line of cron. */
export const HOURLY: Schedule = {
  workflowType: 'dueReports',
  queue: 'reports',
  hour: '*',
  summary: 'Requests the scheduled reports that are due',
  without: 'scheduled reports are not requested',
};
export const SCHEDULES: readonly Schedule[] = [NIGHTLY, HOURLY];
export const TIME_ZONE = 'Africa/Addis_Ababa';
/** Longer than any outage of Temporal: a missed night is caught up, and of missed hours one. */
export const CATCH_UP_HOURS = 24;

export type TemporalParts = { config: Config; connection: Connection | NativeConnection };

/** What Temporal lacks and does not let us make. `next`: what an administrator of it does. */
export type Missing = { what: string; next: string; stopsWorkers: boolean };

const commandOf = ({ TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE }: Config, words: string): string =>
  `temporal ${words} --address ${TEMPORAL_ADDRESS} --namespace ${TEMPORAL_NAMESPACE}`;

export function missingNamespace(config: Config): Missing {
  const next = commandOf(config, `operator namespace create --retention ${config.TEMPORAL_RETENTION_DAYS * 24}h`);
  return { what: `the namespace "${config.TEMPORAL_NAMESPACE}"`, next, stopsWorkers: true };
}

/** A command for each: of several names the command line has added the first one only (1.9.1). */
export function missingAttributes(config: Config, names: readonly SearchAttribute[]): Missing[] {
  return names.map((name) => {
    const { typeName } = TYPES[SEARCH_ATTRIBUTES[name]];
    const next = commandOf(config, `operator search-attribute create --name ${name} --type ${typeName}`);
    return { what: `the search attribute ${name}`, next, stopsWorkers: true };
  });
}

/** Workers run without it. */
export function missingSchedule(config: Config, { workflowType, queue, hour, summary }: Schedule): Missing {
  const id = `${config.TASK_QUEUE_PREFIX}${workflowType}`;
  const calendar = JSON.stringify({ hour: String(hour), comment: summary });
  const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const words = [
    `schedule create --schedule-id ${id} --workflow-id ${id} --type ${workflowType}`,
    `--task-queue ${config.TASK_QUEUE_PREFIX}${queue} --time-zone ${TIME_ZONE} --calendar ${quoted(calendar)}`,
    `--overlap-policy Skip --catchup-window ${CATCH_UP_HOURS}h --static-summary ${quoted(summary)}`,
  ];
  return { what: `the schedule ${id}`, next: commandOf(config, words.join(' ')), stopsWorkers: false };
}

export const CHECK_ACCESS = 'check TEMPORAL_API_KEY or the client certificate, and TEMPORAL_NAMESPACE';

/** Where our identity may not even read the namespace. */
export function noAccess(config: Config): Missing {
  const what = `the use of the namespace "${config.TEMPORAL_NAMESPACE}"`;
  return { what, next: CHECK_ACCESS, stopsWorkers: true };
}

/** gRPC: INVALID_ARGUMENT; and PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED, as a managed service refuses administration. */
const INVALID_ARGUMENT = 3;
const REFUSED: readonly number[] = [7, 12, 16];

/** An error, and the gRPC error that Temporal's client has wrapped in it. */
export const causesOf = (error: unknown): unknown[] => (error instanceof Error ? [error, error.cause] : [error]);

/** Such as `What Temporal lacks and does not let us create:`, then for each a line with its command. */
export const listMissing = (missing: readonly Missing[]): string =>
  missing.map(({ what, next }) => `  ${what}: ${next}`).join('\n');

const hasCode = (error: unknown, codes: readonly number[]): boolean =>
  causesOf(error).some((one) => isGrpcServiceError(one) && codes.includes(one.code));

/** How the worker's connection words the same, without a code. */
const REFUSED_WORDS = /does not have permission|not have valid authentication/;

/** Whether Temporal has answered that we may not do this, or that it does not have it. */
export const isRefused = (error: unknown): boolean =>
  hasCode(error, REFUSED) ||
  (error instanceof Error && error.name === 'TransportError' && REFUSED_WORDS.test(error.message));

/** The search attributes that the namespace lacks, also where we may not list them. */
export async function findMissingAttributes(parts: TemporalParts): Promise<SearchAttribute[]> {
  const { connection, config } = parts;
  const names = Object.keys(SEARCH_ATTRIBUTES) as SearchAttribute[];
  const { TEMPORAL_NAMESPACE: namespace } = config;
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return names.filter((name) => !(name in customAttributes));
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  const exists = await Promise.all(names.map(async (name) => isSearchable(parts, name)));
  return names.filter((_, index) => !exists[index]);
}

/** By a search, which whoever starts workflows may make. */
async function isSearchable({ connection, config }: TemporalParts, name: SearchAttribute): Promise<boolean> {
  const query = `${name} = ${TYPES[SEARCH_ATTRIBUTES[name]].nobodys}`;
  const { TEMPORAL_NAMESPACE: namespace } = config;
  try {
    await connection.workflowService.countWorkflowExecutions({ namespace, query });
    return true;
  } catch (error) {
    if (hasCode(error, [INVALID_ARGUMENT])) return false;
    throw error;
  }
}
