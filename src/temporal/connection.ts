import { readFileSync } from 'node:fs';

import type { Config } from '../config.ts';

/** The options of connections to Temporal. */
export type TemporalConnection = {
  address: string;
  tls?: {
    serverNameOverride?: string;
    serverRootCACertificate?: Uint8Array;
    clientCertPair?: { crt: Uint8Array; key: Uint8Array };
  };
  apiKey?: string;
};

/** Reads the certificates each time, so that renewed ones are used. Throws when a file cannot be read. */
export function temporalConnection(config: Config): TemporalConnection {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_API_KEY: apiKey, temporalTls } = config;
  if (!temporalTls) return { address };
  const { serverName, serverCaFile, clientCertFile, clientKeyFile } = temporalTls;
  return {
    address,
    tls: {
      ...(serverName !== undefined && { serverNameOverride: serverName }),
      ...(serverCaFile !== undefined && { serverRootCACertificate: readFileSync(serverCaFile) }),
      ...(clientCertFile !== undefined &&
        clientKeyFile !== undefined && {
          clientCertPair: { crt: readFileSync(clientCertFile), key: readFileSync(clientKeyFile) },
        }),
    },
    ...(apiKey !== undefined && { apiKey }),
  };
}
