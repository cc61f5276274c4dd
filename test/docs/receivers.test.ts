import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { anyFreePort } from '../../src/lib/ports.ts';
import {
  newSecret,
  signedRequest,
  type SignedRequest,
  type SigningInput,
} from '../../src/webhooks/delivery/attempt.ts';
import { EVENT_CATALOGUE } from '../support/event-catalogue.ts';

const GUIDE = readFileSync(new URL('../../docs/guides/verifying-webhooks.md', import.meta.url), 'utf8');

const LANGUAGES = {
  js: { file: 'receiver.mjs', command: (file: string) => [process.execPath, file] },
  python: { file: 'receiver.py', command: (file: string) => ['python3', file] },
  php: { file: 'receiver.php', command: (file: string, port: number) => ['php', '-S', `127.0.0.1:${port}`, file] },
};
type Language = keyof typeof LANGUAGES;

/** The page's receiver in this language. */
function codeOf(language: Language): string {
  const blocks = [...GUIDE.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, name]) => name === language);
  if (blocks.length !== 1) throw new Error(`the page has ${blocks.length} blocks of ${language}`);
  return blocks[0]?.[2] ?? '';
}

const hasPhp = spawnSync('php', ['-v']).status === 0;

type Receiver = {
  post: (request: SignedRequest) => Promise<number>;
  handled: () => string[];
  stop: () => Promise<void>;
};

/** Runs the page's receiver as its reader would, with this secret. */
async function run(language: Language, secret: string): Promise<Receiver> {
  const folder = mkdtempSync(join(tmpdir(), 'meskot-receiver-'));
  const port = await anyFreePort();
  const { file, command } = LANGUAGES[language];
  writeFileSync(join(folder, file), codeOf(language));
  const [program = '', ...args] = command(join(folder, file), port);
  // The PHP receiver keeps the ids it has seen in TMPDIR.
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port), TMPDIR: folder };
  const child: ChildProcess = spawn(program, args, { env });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (printed += text.toString()));
  const url = `http://127.0.0.1:${port}/`;
  await responses(url);
  return {
    post: async ({ body, headers }) =>
      (await fetch(url, { method: 'POST', body: new Uint8Array(body), headers })).status,
    handled: () => [...printed.matchAll(/(?:payment|checkout)\.\w+ ORDER-\d+ [A-Z]+/g)].map(([line]) => line),
    stop: async () => {
      const stopped = once(child, 'exit');
      child.kill('SIGKILL');
      await stopped;
      rmSync(folder, { recursive: true });
    },
  };
}

/** Waits until something is served there, at most 20 s. */
async function responses(url: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const response = await fetch(url, { method: 'POST', body: '{}' }).catch(() => null);
    if (response) return;
    if (Date.now() > deadline) throw new Error(`nothing answers at ${url}`);
    await sleep(50);
  }
}

const SECRET = newSecret();
const OTHER = newSecret();

/** What the service sends of a payment, with a name that is not ASCII. */
function sent(eventId: string, tx: Partial<SigningInput> = {}): SignedRequest {
  const data = { ...EVENT_CATALOGUE['payment.succeeded'].example, customerName: 'አበበ ቢቂላ', version: 3 };
  const envelope = { event: 'payment.succeeded', event_id: eventId, api_version: 'v1.0', data };
  return signedRequest({
    payload: Buffer.from(JSON.stringify(envelope)),
    eventId,
    attemptAt: new Date(),
    secret: SECRET,
    previousSecret: null,
    encoding: 'base64',
    customHeaders: {},
    ...tx,
  });
}

const without = ({ body, headers }: SignedRequest, ...names: string[]): SignedRequest => ({
  body,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name))),
});

describe.each(Object.keys(LANGUAGES) as Language[])('the receiver in %s', (language) => {
  const testIt = language === 'php' && !hasPhp ? test.skip : test;
  let receiver: Receiver;

  beforeAll(async () => {
    if (language !== 'php' || hasPhp) receiver = await run(language, SECRET);
  }, 30_000);
  afterAll(async () => receiver?.stop());

  testIt('takes what the service sends, and handles a repeat once', async () => {
    expect(await receiver.post(sent('evt_1'))).toBe(200);
    expect(await receiver.post(sent('evt_1', { attemptAt: new Date(Date.now() - 60_000) }))).toBe(200);
    // Some answer before they print.
    for (let tries = 0; receiver.handled().length === 0 && tries < 100; tries += 1) await sleep(20);
    expect(receiver.handled()).toEqual(['payment.succeeded ORDER-1042 SUCCESS']);
  });

  testIt('refuses a body in which one byte was changed', async () => {
    const { body, headers } = sent('evt_2');
    const changed = Buffer.from(body.toString().replace('1250.5', '9250.5'));
    expect(await receiver.post({ body: changed, headers })).toBe(400);
  });

  testIt('refuses what another secret signed, also beside a header that it trusts', async () => {
    expect(await receiver.post(sent('evt_3', { secret: OTHER }))).toBe(400);
    const { headers } = sent('evt_3');
    const forged = { ...sent('evt_3', { secret: OTHER }) };
    forged.headers['X-Service-Signature'] = headers['X-Service-Signature'] ?? '';
    expect(await receiver.post(forged)).toBe(400);
  });

  testIt('needs both signatures and their time', async () => {
    for (const name of ['X-Service-Signature', 'webhook-signature', 'webhook-timestamp', 'webhook-id']) {
      expect([name, await receiver.post(without(sent('evt_4'), name))]).toEqual([name, 400]);
    }
  });

  testIt('refuses what was signed too long ago', async () => {
    expect(await receiver.post(sent('evt_5', { attemptAt: new Date(Date.now() - 600_000) }))).toBe(400);
  });

  testIt('with the old secret takes deliveries while it is rotated, and none afterwards', async () => {
    expect(await receiver.post(sent('evt_6', { secret: OTHER, previousSecret: SECRET }))).toBe(200);
    expect(await receiver.post(sent('evt_7', { secret: OTHER }))).toBe(400);
  });

  testIt('with the new secret takes deliveries from the start of the rotation on', async () => {
    expect(await receiver.post(sent('evt_8', { previousSecret: OTHER }))).toBe(200);
  });
});

test('the page has the actual time limit, delays and headers', () => {
  for (const text of ['3 seconds', '1 minute, 5 minutes, 30 minutes, 2 hours and 12 hours', '14 h 36 min']) {
    expect(GUIDE.replaceAll(/\s+/g, ' ')).toContain(text);
  }
  for (const name of Object.keys(sent('evt_9', { previousSecret: OTHER }).headers)) {
    if (/signature|^webhook-|^X-Service/i.test(name)) expect(GUIDE).toContain(`\`${name}\``);
  }
});
