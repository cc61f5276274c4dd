import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createSecureServer } from 'node:tls';

import { checkMail } from '../../src/app/doctor/mail.ts';
import { readConfig } from '../../src/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { createAuthority, createCertificate } from '../support/certificates.ts';

const servers: Server[] = [];
afterAll(() => servers.forEach((server) => server.close()));

/** Listens on a free port; returns host and port. */
async function listen(server: Server): Promise<string> {
  servers.push(server.unref());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A mail server that knows one password, and takes no mail. */
function serveMail(socket: Socket): void {
  const credentials = Buffer.from('\0shop\0right').toString('base64');
  socket.write('220 mail.example.et\r\n');
  socket
    .on('error', () => {})
    .on('data', (data) => {
      const line = data.toString().trim();
      if (line.startsWith('EHLO')) socket.write('250-mail.example.et\r\n250 AUTH PLAIN\r\n');
      else if (line === `AUTH PLAIN ${credentials}`) socket.write('235 2.7.0 accepted\r\n');
      else if (line.startsWith('AUTH')) socket.write('535 5.7.8 rejected\r\n');
      else socket.end('221 bye\r\n');
    });
}

const examine = async (url: string | undefined, production = false) => {
  const config = {
    ...readConfig({ DATABASE_URL: 'postgres://127.0.0.1/none', TEMPORAL_ADDRESS: '127.0.0.1:1' }),
    SMTP_URL: url,
    production,
  };
  return (await checkMail({ config, clock: systemClock }))[0];
};

test('a mail server that accepts our sign-in is ok', async () => {
  const at = await listen(createServer(serveMail));
  expect(await examine(`smtp://shop:right@${at}`)).toEqual({
    name: 'mail',
    status: 'ok',
    found: `The mail server ${at} takes our connection, and our sign-in.`,
    next: null,
  });
  expect(await examine(`smtp://${at}`)).toMatchObject({ status: 'ok', found: expect.stringMatching(/connection\.$/) });
});

test('a wrong password, a closed port and a server of something else have different errors, without the password', async () => {
  const [mail, web] = [
    await listen(createServer(serveMail)),
    await listen(createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'))),
  ];
  const closed = `127.0.0.1:${await anyFreePort()}`;
  const found = [
    await examine(`smtp://shop:planted-password@${mail}`),
    await examine(`smtp://${closed}`),
    await examine(`smtp://${web}`),
  ];
  expect(found).toMatchObject([
    { status: 'wrong', found: `${mail} rejects the user or the password.`, next: 'Check both in SMTP_URL.' },
    { status: 'wrong', found: `${closed} refuses connections.` },
    { status: 'wrong', found: `${web} does not speak SMTP.` },
  ]);
  expect(JSON.stringify(found)).not.toContain('planted-password');
});

test('a mail server whose certificate is not accepted is wrong', async () => {
  const certificate = await createCertificate(await createAuthority());
  const at = await listen(createSecureServer(certificate, serveMail));
  expect(await examine(`smtps://${at}`)).toMatchObject({
    status: 'wrong',
    found: expect.stringContaining(`The TLS certificate of ${at} is not accepted`),
  });
});

test('without a mail server mails are kept, which production warns of', async () => {
  expect(await examine(undefined)).toMatchObject({ status: 'ok', found: expect.stringContaining('/dev/mail') });
  expect(await examine(undefined, true)).toMatchObject({
    status: 'warning',
    next: expect.stringContaining('Set SMTP_URL'),
  });
});
