import { readFileSync } from 'node:fs';

import type { TLSConfig } from '@temporalio/client';

import type { Config } from '../config.ts';

/** The options of connections to Temporal. */
export type TemporalConnection = { address: string; tls?: TLSConfig; apiKey?: string };

/** Reads the certificates each time, so that renewed ones are used. Throws when a file cannot be read. */
export function temporalConnection(config: Config): TemporalConnection {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_API_KEY: apiKey } = config;
  if (!config.usesTemporalTls) return { address };
  const { TEMPORAL_TLS_SERVER_NAME: serverName, TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority } = config;
  const { TEMPORAL_TLS_CLIENT_CERT_PATH: certificate, TEMPORAL_TLS_CLIENT_KEY_PATH: key } = config;
  const tls = {
    ...(serverName && { serverNameOverride: serverName }),
    ...(authority && { serverRootCACertificate: readFileSync(authority) }),
    ...(certificate && key && { clientCertPair: { crt: readFileSync(certificate), key: readFileSync(key) } }),
  };
  return { address, tls, ...(apiKey && { apiKey }) };
}
