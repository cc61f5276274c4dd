import { X509Certificate } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';

import { Connection, isGrpcServiceError, ScheduleClient, ScheduleNotFoundError } from '@temporalio/client';

import type { Config } from '../../config.ts';
import { findCurrentBuild } from '../../temporal/builds.ts';
import { pingTemporal, temporalConnection } from '../../temporal/client.ts';
import {
  findMissingAttributes,
  isRefused,
  type Missing,
  missingAttributes,
  missingNamespace,
  missingSchedule,
  type Schedule,
  SCHEDULES,
} from '../../temporal/requirements.ts';
import {
  check,
  codeOf,
  type DoctorParts,
  type Finding,
  hasWrong,
  ofValidity,
  ok,
  type Result,
  warning,
  wrong,
} from './check.ts';
import { checkCertificate, ofNetworkFailure, type Server, tryConnect } from './reach.ts';

const CONNECT_MS = 3_000;
const CALL_MS = 3_000;
const DEFAULT_PORT = 7_233;
/** gRPC. */
const NOT_FOUND = 5;
const CHECK = 'Check TEMPORAL_API_KEY or the client certificate, and TEMPORAL_NAMESPACE.';
const PREPARE = 'Run "meskot migrate", which prepares Temporal; every worker that reaches it does so too';
const prepareOr = (missing: readonly Missing[]): string =>
  `${PREPARE}. Where Temporal does not let us, its administrator runs: ${missing.map(({ next }) => next).join(' && ')}`;

type Reached = ReturnType<typeof temporalConnection>;

/** Temporal: the connection, and over it what `meskot migrate` prepares: namespace, search attributes and schedule. */
export async function checkTemporal(parts: DoctorParts): Promise<Finding[]> {
  const { config } = parts;
  let reached: Reached;
  try {
    reached = temporalConnection(config);
  } catch (error) {
    const found = `A file of the TEMPORAL_TLS_ settings cannot be read (${codeOf(error)}).`;
    return [{ name: 'Temporal', ...wrong(found, 'Check that the files exist and that this user may read them.') }];
  }
  const server = serverAt(reached.address);
  const failure = await tryConnect(server);
  if (failure) return [{ name: 'Temporal', ...ofNetworkFailure(failure.code, server) }];
  const options = { now: parts.clock(), options: tlsOptions(reached) };
  const certificate = [
    ...(reached.tls ? await check('Temporal certificate', () => checkCertificate(server, options)) : []),
    ...(await check('Temporal client certificate', async () => clientResult(reached, parts.clock()))),
  ];
  if (hasWrong(certificate)) return certificate;
  const connecting = Connection.connect({ ...reached, connectTimeout: CONNECT_MS });
  const connection = await connecting.catch((error: unknown) => ({ refused: isRefused(error) }));
  if ('refused' in connection) {
    const result = connection.refused
      ? wrong(`Temporal at ${reached.address} refuses our calls.`, CHECK)
      : unlikeTemporal(server);
    return [...certificate, { name: 'Temporal', ...result }];
  }
  try {
    return [...certificate, ...(await checkPreparation(connection, parts))];
  } finally {
    await connection.close();
  }
}

function serverAt(address: string): Server {
  const [, host = '', port] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(address) ?? [];
  return { host, port: port === undefined ? DEFAULT_PORT : Number(port), setting: 'TEMPORAL_ADDRESS' };
}

function tlsOptions({ tls }: Reached): ConnectionOptions {
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = typeof tls === 'object' ? tls : {};
  return {
    ALPNProtocols: ['h2'],
    ...(serverNameOverride && { servername: serverNameOverride }),
    ...(serverRootCACertificate && { ca: Buffer.from(serverRootCACertificate) }),
    ...(clientCertPair && { cert: Buffer.from(clientCertPair.crt), key: Buffer.from(clientCertPair.key) }),
  };
}

/** Of mTLS, which is ours. */
function clientResult({ tls }: Reached, now: Date): Result | null {
  const pair = typeof tls === 'object' ? tls.clientCertPair : undefined;
  if (!pair) return null;
  const next = 'Renew it and its key; running processes read them at their next connection.';
  return ofValidity('The certificate of TEMPORAL_TLS_CLIENT_CERT_PATH', new X509Certificate(pair.crt), { now, next });
}

/** Temporal's client only reports a timeout. */
function unlikeTemporal({ host, port }: Server): Result {
  return wrong(
    `${host}:${port} takes connections, but does not answer as Temporal does.`,
    'Check TEMPORAL_ADDRESS, and whether the server demands TLS (TEMPORAL_TLS), a client certificate or an API key.',
  );
}

async function checkPreparation(connection: Connection, { config }: DoctorParts): Promise<Finding[]> {
  const { TEMPORAL_NAMESPACE: namespace, TEMPORAL_ADDRESS: address } = config;
  const within = async <T>(work: () => Promise<T>): Promise<T> => connection.withDeadline(Date.now() + CALL_MS, work);
  const answered = await check('Temporal', async () => {
    if (await pingTemporal(connection)) return ok(`Answers at ${address}.`);
    const found = `${address} takes connections, but does not answer within a second.`;
    return warning(found, "Check the load of Temporal's server and of its database.");
  });
  const prepared = await check('Temporal namespace', () =>
    within(async () => {
      await connection.workflowService.describeNamespace({ namespace });
      return ok(`"${namespace}" exists.`);
    }).catch((error: unknown) => ofNamespace(error, config)),
  );
  if (hasWrong(prepared)) return [...answered, ...prepared];
  const attributes = check('Temporal search attributes', () =>
    within(async () => {
      const names = await findMissingAttributes({ connection, config });
      if (names.length === 0) return ok('All exist.');
      return wrong(`${names.join(', ')} are missing.`, prepareOr(missingAttributes(config, names)));
    }),
  );
  const client = new ScheduleClient({ connection, namespace });
  const schedules = SCHEDULES.map((schedule) =>
    check(`Temporal schedule ${schedule.workflowType}`, () =>
      within(async () => checkSchedule(client, { config, schedule })),
    ),
  );
  const build = check('Temporal build', async () => {
    const current = await findCurrentBuild({ connection, config });
    return current === null ? null : ok(`${current} gets the workflows.`);
  });
  return [...answered, ...prepared, ...(await attributes), ...(await Promise.all(schedules)).flat(), ...(await build)];
}

function ofNamespace(error: unknown, config: Config): Result {
  const { TEMPORAL_NAMESPACE: namespace } = config;
  const code = isGrpcServiceError(error) ? error.code : undefined;
  if (code === NOT_FOUND) {
    return wrong(`The namespace "${namespace}" does not exist.`, prepareOr([missingNamespace(config)]));
  }
  if (isRefused(error)) {
    const found = `Temporal does not let us use the namespace "${namespace}".`;
    return wrong(found, CHECK);
  }
  throw error;
}

async function checkSchedule(
  client: ScheduleClient,
  { config, schedule }: { config: Config; schedule: Schedule },
): Promise<Result> {
  const scheduleId = `${config.TASK_QUEUE_PREFIX}${schedule.workflowType}`;
  const missing = missingSchedule(config, schedule);
  try {
    const { state } = await client.getHandle(scheduleId).describe();
    if (!state.paused) return ok(`${scheduleId} exists.`);
    const found = `${scheduleId} is paused, so ${schedule.without}.`;
    return warning(found, 'Resume it in the Temporal UI, unless an operator wants it to pause.');
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) {
      return wrong(`The schedule ${scheduleId} does not exist.`, prepareOr([missing]));
    }
    if (!isRefused(error)) throw error;
    const next = `Allow it to read schedules, or check there that it exists: ${missing.next}`;
    return warning(`Temporal does not let us read the schedule ${scheduleId}.`, next);
  }
}
