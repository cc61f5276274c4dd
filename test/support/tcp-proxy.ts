import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A port that forwards to a server: what the name of a managed database does, without the caches of name servers. */
export type TcpProxy = {
  port: number;
  /** From now on new connections lead to this port; existing ones stay. */
  leadTo: (port: number) => void;
  close: () => Promise<void>;
};

export async function startTcpProxy(firstPort: number): Promise<TcpProxy> {
  let target = firstPort;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    const onward = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => {});
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (port) => void (target = port),
    close: async () => {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
}
