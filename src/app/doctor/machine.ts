import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import type { Config } from '../../config.ts';
import { findFullDisk } from '../../http/health.ts';
import { createResolve, openTunnel, targetOf } from '../../webhooks/egress/egress.ts';
import { check, codeOf, type DoctorParts, type Finding, ok, type Result, warning, wrong } from './check.ts';
import { checkCertificate, ofNetworkFailure, serverOf, type Server } from './reach.ts';

/** The folders that a process writes to. */
export async function checkDisks({ config: { disks } }: DoctorParts): Promise<Finding[]> {
  const { folders, freeMegabytesMin } = disks;
  const each = Object.entries(folders).map(([setting, folder]) =>
    check(`disk of ${setting}`, async () => {
      const problem = await writeProblem(folder);
      if (problem !== null) {
        const next = `Give the user of the processes the right to write there, or change ${setting}.`;
        return wrong(`Nothing can be written to ${folder} (${problem}).`, next);
      }
      const full = await findFullDisk({ folders: { [setting]: folder }, freeMegabytesMin });
      if (full === null) return ok(`${folder} can be written to, and has at least ${freeMegabytesMin} MB free.`);
      return wrong(full, 'Make room, or lower DISK_FREE_MEGABYTES_MIN: until then no process is ready.');
    }),
  );
  return (await Promise.all(each)).flat();
}

/** The code of the error, null if a file can be written. A folder that does not exist yet counts as its parent. */
async function writeProblem(folder: string): Promise<string | null> {
  let existing = resolve(folder);
  while (!existsSync(existing)) existing = dirname(existing);
  const file = join(existing, `.doctor-${randomBytes(8).toString('hex')}`);
  try {
    await writeFile(file, '');
    return null;
  } catch (error) {
    return codeOf(error);
  } finally {
    await rm(file, { force: true }).catch(() => {});
  }
}

/** The way out for webhooks: the proxy, if there is one, and the name servers. */
export async function checkEgress({ config, clock }: DoctorParts): Promise<Finding[]> {
  const proxy = await check('egress proxy', () => checkProxy(config, clock()));
  return [...proxy, ...(await check('name servers', () => checkNames(config.PUBLIC_BASE_URL)))];
}

/** A connection through the proxy, as webhooks make it: to our own public address. */
async function checkProxy(
  { EGRESS_PROXY_URL: proxyUrl, PUBLIC_BASE_URL: publicUrl }: Config,
  now: Date,
): Promise<Result | null> {
  if (proxyUrl === undefined) return null;
  const server = serverOf(proxyUrl, 'EGRESS_PROXY_URL');
  const certificate = proxyUrl.startsWith('https:') ? await checkCertificate(server, { now }) : null;
  if (certificate?.status === 'wrong') return certificate;
  const { host, port } = targetOf(new URL(publicUrl));
  const target = `${host}:${port}`;
  // Of an unknown name the service's own line has the error.
  const found = await lookup(host).catch(() => null);
  if (!found) return warning(`It was not tried: ${host} has no address.`, 'Run it again once the name is known.');
  const failure = await openTunnel(new URL(proxyUrl), found.address, port).then(
    (socket) => void socket.destroy(),
    (error: unknown) => ofProxyError(error, server, target),
  );
  if (failure) return failure;
  return certificate?.status === 'warning' ? certificate : ok(`It connects webhooks, here to ${target}.`);
}

function ofProxyError(error: unknown, server: Server, target: string): Result {
  const { status } = error as { status?: number };
  if (status === undefined) return ofNetworkFailure(codeOf(error), server);
  const found = `${server.host}:${server.port} does not connect to ${target} (status ${status}).`;
  if (status === 407) return wrong(found, `Check the user and the password in ${server.setting}.`);
  if (status === 403) return warning(found, 'Check that it allows CONNECT to the servers of merchants.');
  if (status >= 500) return warning(found, `Check whether the proxy reaches ${target} and the internet.`);
  return wrong(found, `Check that ${server.setting} is a proxy, and that it allows CONNECT to the internet.`);
}

/** As webhooks resolve names: by the name servers alone, without /etc/hosts. */
async function checkNames(publicUrl: string): Promise<Result | null> {
  const { host, isAddress, loopback } = targetOf(new URL(publicUrl));
  if (isAddress || loopback) return null;
  try {
    const addresses = await createResolve()(host);
    return ok(`${host} has ${addresses.length === 1 ? 'one address' : `${addresses.length} addresses`}.`);
  } catch (error) {
    const found = `The name servers of this machine give no address of ${host} (${codeOf(error)}).`;
    return warning(found, 'Check /etc/resolv.conf: webhooks resolve names by these servers, without /etc/hosts.');
  }
}
