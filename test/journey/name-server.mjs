import dns from 'node:dns/promises';
/**
 * Loaded by a process before its own code: its resolvers query the name server at NAME_SERVER, as /etc/resolv.conf would
 * make them. The product decides by itself which of the resolved addresses it connects to.
 */
import { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';

const { Resolver } = dns;
dns.Resolver = class extends Resolver {
  constructor(options) {
    super(options);
    this.setServers([process.env.NAME_SERVER]);
  }
};
syncBuiltinESMExports();
