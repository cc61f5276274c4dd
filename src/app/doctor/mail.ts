import { tryMailServer } from '../../outbox/mail.ts';
import { check, codeOf, type DoctorParts, type Finding, ok, type Result, warning, wrong } from './check.ts';
import { checkCertificate, ofNetworkFailure, type Server, serverOf, tryConnect } from './reach.ts';

const TRY_MS = 3_000;

/** The server of mails to people: the connection, its certificate, and our sign-in there. No mail is sent. */
export async function checkMail({ config, clock }: Pick<DoctorParts, 'config' | 'clock'>): Promise<Finding[]> {
  const { SMTP_URL: url, production } = config;
  return check('mail', async () => {
    if (url === undefined) return withoutServer(production);
    const server = serverOf(url, 'SMTP_URL');
    const certificate = url.startsWith('smtps:') ? await checkCertificate(server, { now: clock() }) : null;
    if (certificate?.status === 'wrong') return certificate;
    const failure = certificate ? null : await tryConnect(server);
    if (failure) return ofNetworkFailure(failure.code, server);
    const refusal = await tryMailServer(url, TRY_MS).then(
      () => null,
      (error: unknown) => ofRefusal(codeOf(error), server),
    );
    if (refusal) return refusal;
    if (certificate?.status === 'warning') return certificate;
    const who = new URL(url).username === '' ? '' : ', and our sign-in';
    return ok(`The mail server ${server.host}:${server.port} takes our connection${who}.`);
  });
}

function withoutServer(production: boolean): Result {
  if (!production) return ok('No mail server is set: mails are kept, and shown at /dev/mail of the portal.');
  const next = 'Set SMTP_URL and MAIL_FROM: people are invited, and choose a new password, by mail.';
  return warning('No mail server is set: mails are kept in the database, and none is sent.', next);
}

/** What a mail server means that takes connections, by nodemailer's codes. */
function ofRefusal(code: string, server: Server): Result {
  const at = `${server.host}:${server.port}`;
  if (code === 'EAUTH') return wrong(`${at} rejects the user or the password.`, 'Check both in SMTP_URL.');
  if (code === 'ETIMEDOUT') return wrong(`${at} takes the connection, and does not answer.`, CHECK_PORT);
  if (code === 'EPROTOCOL') return wrong(`${at} does not speak SMTP.`, CHECK_PORT);
  const next = `Try it: openssl s_client -starttls smtp -connect ${at}. An authority of its own is trusted by NODE_EXTRA_CA_CERTS=file.pem.`;
  if (code === 'ETLS' || code === 'ESOCKET') return wrong(`${at} does not complete TLS (${code}).`, next);
  return wrong(`${at} does not accept our connection (${code}).`, 'Check SMTP_URL, and the log of the mail server.');
}

const CHECK_PORT = 'Check the port in SMTP_URL: 587 with smtp://, 465 with smtps://.';
