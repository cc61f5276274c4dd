import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';

import type { LiveChannel } from '../../merchants/channels/channel.ts';
import { callbackUrl } from '../../providers/callbacks.ts';
import { createEgressGuard } from '../../webhooks/egress/egress.ts';
import { check, type DoctorParts, type Finding, ok, type Result, warning, wrong } from './check.ts';
import { ask, checkCertificate, ofNetworkFailure, serverOf } from './reach.ts';

const PUBLIC_BASE_URL = 'PUBLIC_BASE_URL';

/** The address that customers, merchants and providers use: its certificate, and that the API answers there. */
export async function checkPublicAddress(parts: DoctorParts): Promise<Finding[]> {
  const { PUBLIC_BASE_URL: url } = parts.config;
  const server = serverOf(url, PUBLIC_BASE_URL);
  if (parts.config.production && server.host.endsWith('.localhost'))
    return [{ name: 'public address', ...firstTry(server.host) }];
  const certificate = url.startsWith('https:')
    ? check('public certificate', () => checkCertificate(server, { now: parts.clock() }))
    : [];
  const answer = check('public address', async () => {
    const reply = await ask(`${url}/livez`, parts);
    if (reply.kind === 'failed') return ofNetworkFailure(reply.code, server);
    if (reply.status === 200 && reply.text.includes('"status":"ok"')) return ok(`The API answers at ${url}.`);
    return wrong(
      `${url} does not answer as the API does (status ${reply.status}).`,
      `Check ${PUBLIC_BASE_URL}, that the API runs, and where the proxy in front of it forwards requests to.`,
    );
  });
  return [
    ...(await certificate),
    ...(await answer),
    ...(await check("operators' listener", () => checkOperators(parts))),
  ];
}

/** Such a name (RFC 6761) leads each machine, and each container, to itself: nothing can be asked there. */
const firstTry = (host: string): Result =>
  warning(
    `${host} leads to this machine only, which is enough for a first try.`,
    `Before customers and providers use it, set ${PUBLIC_BASE_URL} to a name of the internet.`,
  );

/** Where operators' requests are taken, and whether the public address takes them, too. */
async function checkOperators({ config, clock }: DoctorParts): Promise<Result | null> {
  const { PUBLIC_BASE_URL: url, CONSOLE_HOST: host, CONSOLE_PORT: port } = config;
  const reply = await ask(`${url}/api/ops/me`, { clock });
  // The line of the public address has the reason.
  if (reply.kind === 'failed') return null;
  if (reply.status === 401 && reply.text.includes('"AUTHENTICATION_REQUIRED"')) {
    return warning(
      `${url} takes operators' requests: whoever has a key of theirs can use it from anywhere.`,
      'Leave OPERATORS_ON_PUBLIC_API unset, and let no rule of the proxy lead from there to CONSOLE_PORT.',
    );
  }
  return ok(`Port ${port} of ${host}; ${url} takes no requests of operators.`);
}

/** 24 random bytes, as in the addresses of orders. */
const SECRET_BYTES = 24;
/** The API's own response to an unknown address: an error page of a proxy differs. */
const NOT_FOUND = 'Not found';

/** Whether the address that a provider calls is ours, as far as this can be seen from this machine. */
export async function checkCallback(parts: DoctorParts, channel: LiveChannel, label: string): Promise<Result> {
  const { config } = parts;
  const { callbackBaseUrl, callbackCidrs } = config.liveProviders[channel].connection;
  const setting = callbackBaseUrl === undefined ? PUBLIC_BASE_URL : `${channel}_CALLBACK_BASE_URL`;
  const baseUrl = callbackBaseUrl ?? config.PUBLIC_BASE_URL;
  const server = serverOf(baseUrl, setting);
  const url = callbackUrl(baseUrl, { channel, secret: randomBytes(SECRET_BYTES).toString('base64url') });
  const [certificate, reply] = await Promise.all([
    // That of the public address has its own line.
    callbackBaseUrl?.startsWith('https:') ? checkCertificate(server, { now: parts.clock() }) : ok(''),
    ask(url, { clock: parts.clock, method: 'POST' }),
  ]);
  if (certificate.status !== 'ok') return certificate;
  if (reply.kind === 'failed') return ofNetworkFailure(reply.code, server);
  if (reply.status === 429) {
    return warning(`${baseUrl} rejects calls to unknown addresses for now (status 429).`, 'Run it again in a minute.');
  }
  // From here the address may be refused: only the provider's are allowed.
  const isRefused = reply.status === 403 && callbackCidrs.length > 0;
  if (!isRefused && !(reply.status === 404 && reply.text === NOT_FOUND)) {
    return wrong(
      `${baseUrl}/api/providers/${channel}/callback does not answer as the API does (status ${reply.status}).`,
      `Check ${setting}, and that the proxy forwards POST of this path to the API.`,
    );
  }
  if (config.production && !(await isPublic(server.host))) {
    return warning(
      `The API answers at ${baseUrl}, but ${server.host} is not an address of the internet.`,
      `Confirm that ${label} reaches it, over a VPN for example; otherwise set ${setting} to a public address.`,
    );
  }
  return ok(`The API answers at ${baseUrl}; only ${label} can tell whether it is reachable from its network.`);
}

async function isPublic(host: string): Promise<boolean> {
  const guard = createEgressGuard({ allowLoopback: false, ports: [], deny: [] });
  const found = await lookup(host, { all: true });
  return guard.allPublic(found.map(({ address }) => address));
}
