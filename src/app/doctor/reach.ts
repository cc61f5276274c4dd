import { once } from 'node:events';
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

import { request } from 'undici';

import { readBody } from '../../lib/body.ts';
import type { Clock } from '../../lib/clock.ts';
import { TLS_REASONS } from '../../webhooks/delivery/failure.ts';
import { codeOf, ofValidity, type Result, wrong } from './check.ts';

const REACH_MS = 4_000;
const BODY_BYTES_MAX = 65_536;

/** A server, and the setting that names it. */
export type Server = { host: string; port: number; setting: string };

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80, 'smtps:': 465, 'smtp:': 587 };

export function serverOf(url: string, setting: string): Server {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port), setting };
}

export type NetworkFailure = { kind: 'failed'; code: string };

/** What a network failure means, and where to look. */
export function ofNetworkFailure(code: string, { host, port, setting }: Server): Result {
  const at = `${host}:${port}`;
  if (/^(?:ENOTFOUND|ENODATA|EAI_NODATA)$/.test(code))
    return wrong(`The name ${host} does not exist.`, `Check ${setting}, and the name servers of this machine.`);
  if (/^(?:EAI_|ESERVFAIL|ETIMEOUT$|EREFUSED)/.test(code))
    return wrong(`No name server has answered for ${host} (${code}).`, 'Check the name servers in /etc/resolv.conf.');
  if (code === 'ECONNREFUSED')
    return wrong(`${at} refuses connections.`, `Check ${setting}, that the service runs, and the firewall between.`);
  if (/TIMEDOUT|TIMEOUT/.test(code)) {
    const next = `Check ${setting}, that the service runs, and that the firewall lets this machine connect to ${at}.`;
    return wrong(`${at} does not answer in time.`, next);
  }
  if (code in TLS_REASONS || /^(?:CERT|UNABLE_TO|DEPTH|SELF|ERR_TLS|HOSTNAME)/.test(code))
    return ofTlsError(code, { host, port, setting });
  if (/^(?:EPROTO|ERR_SSL)/.test(code))
    return wrong(`${at} does not speak TLS (${code}).`, `Check the port and "https" in ${setting}.`);
  if (/^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code))
    return wrong(`No route leads to ${at} (${code}).`, `Check ${setting}, the network of this machine, and its VPN.`);
  const next = `Check ${setting}: a proxy or firewall between, or a server that demands a client certificate, closes it.`;
  return wrong(`The connection to ${at} was closed (${code}).`, next);
}

function ofTlsError(code: string, { host, port, setting }: Server): Result {
  const reason = TLS_REASONS[code] ?? `it was rejected with ${code}`;
  return wrong(`The TLS certificate of ${host}:${port} is not accepted: ${reason}.`, nextOfTls(code, setting));
}

const RENEW = 'The server must renew its certificate; until then nothing is sent to it.';

function nextOfTls(code: string, setting: string): string {
  if (code === 'CERT_HAS_EXPIRED') return RENEW;
  if (code === 'CERT_NOT_YET_VALID') return 'Compare the clock of this machine with a time server: chronyc tracking.';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `Write the host name that the certificate is for in ${setting}.`;
  return 'The server must send its whole chain. An authority of its own is trusted by NODE_EXTRA_CA_CERTS=file.pem.';
}

/** Whether a connection opens. */
export async function tryConnect({ host, port }: Server): Promise<NetworkFailure | null> {
  const socket = connectTcp({ host, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(REACH_MS) });
    return null;
  } catch (error) {
    return { kind: 'failed', code: codeOf(error) };
  } finally {
    socket.destroy();
  }
}

/**
 * The certificate of a server: whether it is accepted, and for how long. The handshake is completed whatever the
 * certificate, so that the report can name all that is wrong with it; nothing is sent over this connection.
 */
export async function checkCertificate(
  server: Server,
  { now, options = {} }: { now: Date; options?: ConnectionOptions },
): Promise<Result> {
  const { host, port } = server;
  const socket = connectTls({
    host,
    port,
    ...(isIP(host) === 0 && { servername: host }),
    ...options,
    rejectUnauthorized: false,
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(REACH_MS) });
    const certificate = socket.getPeerX509Certificate();
    // Node sets the error's code, where the types have an error.
    const error = socket.authorized ? null : String(socket.authorizationError);
    if (!certificate) return wrong(`${host}:${port} sent no certificate.`, `Check ${server.setting}.`);
    const validity = ofValidity(`The TLS certificate of ${host}:${port}`, certificate, { now, next: RENEW });
    return error === null || validity.status === 'wrong' ? validity : ofTlsError(error, server);
  } catch (error) {
    return ofNetworkFailure(codeOf(error), server);
  } finally {
    socket.on('error', () => {}).destroy();
  }
}

/** A response of any status. `skewSeconds`: our clock minus that of its Date header; null without one. */
export type HttpReply = { kind: 'reply'; status: number; text: string; skewSeconds: number | null };

/** Sends a request without credentials; redirects are not followed. */
export async function ask(
  url: string,
  { clock, method = 'GET', timeoutMs = REACH_MS }: { clock: Clock; method?: 'GET' | 'POST'; timeoutMs?: number },
): Promise<HttpReply | NetworkFailure> {
  try {
    const sentMs = clock().getTime();
    const options = { method, signal: AbortSignal.timeout(timeoutMs), reset: true };
    const { statusCode: status, headers, body } = await request(url, options);
    const midwayMs = (sentMs + clock().getTime()) / 2;
    const text = (await readBody(body, BODY_BYTES_MAX))?.toString() ?? '';
    const dateMs = Date.parse(String(headers['date']));
    // The header has whole seconds: half a second later is the better guess.
    const skewSeconds = Number.isNaN(dateMs) ? null : (midwayMs - dateMs - 500) / 1_000;
    return { kind: 'reply', status, text, skewSeconds };
  } catch (error) {
    return { kind: 'failed', code: codeOf(error) };
  }
}
