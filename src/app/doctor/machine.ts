import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { findFullDisk } from '../../http/health.ts';
import { createResolve, targetOf } from '../../webhooks/egress/egress.ts';
import { check, codeOf, type DoctorParts, type Finding, ok, type Result, warning, wrong } from './check.ts';
import { checkCertificate, ofNetworkFailure, serverOf, tryConnect } from './reach.ts';

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
  const { EGRESS_PROXY_URL: proxyUrl } = config;
  const proxy = await check('egress proxy', async () => {
    if (proxyUrl === undefined) return null;
    const server = serverOf(proxyUrl, 'EGRESS_PROXY_URL');
    if (proxyUrl.startsWith('https:')) return checkCertificate(server, { now: clock() });
    const failure = await tryConnect(server);
    return failure ? ofNetworkFailure(failure.code, server) : ok(`${server.host}:${server.port} takes connections.`);
  });
  return [...proxy, ...(await check('name servers', () => checkNames(config.PUBLIC_BASE_URL)))];
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
