import { InvalidArgumentError, Option, type Command } from 'commander';

import { addisDay } from '../../lib/dates.ts';
import { CHANNELS } from '../../merchants/channels/channel.ts';
import type { Connection } from './api-client.ts';
import type { Terminal } from './print.ts';
import { type Field, type Verb, readVerbs, runVerb } from './run-verb.ts';

/** The nouns in the order of the help. Their verbs are the routes with a command, in docs/openapi.json. */
const NOUNS: Readonly<Record<string, string>> = {
  work: 'What needs an operator, and what is stalled',
  withdrawals: 'Money out to phones and bank accounts',
  refunds: 'Payments that go back to their payers',
  settlements: "Money out to merchants' own bank accounts",
  payments: 'Transactions, and money that is held',
  deliveries: 'Webhook deliveries',
  'resend-jobs': 'Deliveries that an operator resends together',
  receipts: 'Money on our bank account, and recoveries of providers',
  reconciliation: "Days compared with the providers' statements",
  merchants: 'Merchants',
  keys: "Merchants' API keys",
  channels: 'Which channels a merchant may use, and maintenance of channels',
  kyc: 'The verification of merchants',
  'bank-accounts': 'Bank accounts that merchants have linked',
  holidays: 'Days without bank business',
  operators: 'Operators and their keys',
  'own-keys': 'Your own keys as an operator',
  invitations: 'Invitations of operators and merchants to create a key',
  proposals: 'Changes that one operator proposes and another confirms',
  audit: 'What operators have changed',
};

const SAMPLES: Readonly<Record<string, string>> = {
  attemptId: 'pat_…',
  bankAccountId: 'bac_…',
  receiptId: 'rcp_…',
  bankReference: 'FT-1',
  channel: CHANNELS[0],
  credentialId: 'pcr_…',
  checkoutOrderNo: 'ABY-02959',
  deliveryId: 'whd_…',
  discrepancyId: 'rcd_…',
  documentId: 'kyd_…',
  email: 'sara@example.et',
  endsAt: '2026-12-01T02:00:00+03:00',
  holidayId: 'hol_…',
  invitationId: 'inv_…',
  jobId: 'whj_…',
  keyId: 'key_…',
  maintenanceId: 'mnt_…',
  merchantId: 'mrc_…',
  name: '"Sara Bekele"',
  operatorId: 'opr_…',
  proposalId: 'prp_…',
  q: 'ABY-02959',
  providerReference: 'CASE-7',
  reason: '"Checked by phone"',
  reasonAm: '"የታቀደ ሥራ"',
  receiverHost: 'shop.example.et',
  reference: 'RET-1',
  refundId: 'rfd_…',
  settlementId: 'stl_…',
  startsAt: '2026-11-30T22:00:00+03:00',
  submission: '1',
  tier: '2',
  transactionId: 'txn_…',
  withdrawalId: 'wd_…',
};

const DEFAULTS: Readonly<Record<string, () => string | number>> = {
  environment: () => 'sandbox',
  limit: () => 100,
  creditedOn: () => addisDay(new Date()),
};
const ENVIRONMENT: Field = { name: 'environment', required: true, enum: ['sandbox', 'live'] };

export type NewAdmin = { name: string; email: string; json?: boolean };

export type VerbDeps = {
  /** The folder of package.json, with docs/openapi.json. */
  project: string;
  terminal: Terminal;
  connect: () => Promise<Connection>;
  /** Creates an admin in the database, while there are not two. */
  createAdmin: (admin: NewAdmin) => Promise<void>;
};

/** Adds `meskot <noun> <verb>` for every command on the API. */
export function addNouns(program: Command, deps: VerbDeps): void {
  const verbs = readVerbs(deps.project);
  for (const verb of verbs.filter(({ name }) => !name.includes(' '))) addVerb(program, verb, { ...deps, verbs });
  for (const [noun, about] of Object.entries(NOUNS)) {
    const parent = program.command(noun).description(about);
    for (const verb of verbs.filter(({ name }) => new RegExp(`^${noun} \\S+$`).test(name))) {
      addVerb(parent, verb, { ...deps, verbs });
    }
  }
}

function addVerb(parent: Command, verb: Verb, { verbs, createAdmin, ...deps }: VerbDeps & { verbs: Verb[] }): void {
  const { name, summary, description, method, path, upload, confirm, bodyFile } = verb;
  const [noun = '', shortName = noun] = name.split(' ');
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param);
  const stalled = verbs.find((one) => one.name === `${name} --stalled`);
  const hasGet = verbs.some((one) => one.name === `${noun} get`);

  const command = parent.command(shortName).summary(summary).description(`${summary}.\n\n${description}`);
  for (const param of params) command.argument(`<${param}>`, `Such as ${SAMPLES[param]}`);
  const argument = verb.fields.find((field) => field.name === verb.argument);
  if (argument) command.argument(`<${argument.name}>`, argument.description);
  const file = upload !== undefined ? 'results.csv' : bodyFile ? `${shortName}.json` : null;
  if (file !== null) command.argument('<file>', `A file (${upload ?? 'application/json'})`);
  // It is not sent: the resource is compared with it.
  const named = verb.fields.filter((field) => field.name !== verb.argument);
  const fields = typeof confirm === 'string' ? [ENVIRONMENT, ...named] : named;
  const options = fields.map((field) => toOption(verb, field));
  for (const { option } of options) command.addOption(option);
  if (stalled) command.option('--stalled', stalled.summary);
  if (name === 'operators create') command.addOption(new Option('--admin', ADMIN).implies({ role: 'admin' }));
  if (confirm) command.option('--yes', 'Do not ask for confirmation');
  if (method === 'POST') command.option('--idempotency-key <key>', 'Repeats an earlier request, made once');
  command.option('--json', 'Print the data as JSON');
  const words = [
    ...params.map((param) => SAMPLES[param]),
    ...(argument ? [SAMPLES[argument.name]] : []),
    ...(file === null ? [] : [file]),
    ...options.filter(({ option }) => option.mandatory).map(({ option, sample }) => `${option.long} ${sample}`),
    ...(fields.some((field) => field.name === 'environment') ? ['--environment live'] : []),
  ];
  command.addHelpText('after', `\nExample:\n  ${['meskot', name, ...words].join(' ')}`);
  command.action(async () => {
    const values = command.opts();
    if (values['admin'] === true) return createAdmin(command.opts<NewAdmin>());
    await runVerb(
      {
        verb: values['stalled'] === true && stalled ? { ...verb, path: stalled.path } : verb,
        params: Object.fromEntries(params.map((param, index) => [param, command.args[index] ?? ''])),
        file: command.args[params.length],
        options: argument ? { ...values, [argument.name]: command.args[params.length] } : values,
        next: { show: hasGet ? `meskot ${noun} get ${command.args[0]}` : undefined, help: `meskot ${name} --help` },
      },
      deps,
    );
  });
}

const ADMIN = 'On the server, while fewer than two admins are active: create one, with a key that is printed once';

function toOption(
  { body, bothEnvironments }: Verb,
  { name, type, enum: choices, description, example, required }: Field,
): { option: Option; sample: string } {
  const byDefault = name === 'environment' && bothEnvironments ? undefined : (body?.[name] ?? DEFAULTS[name]?.());
  const isMandatory = required === true && byDefault === undefined;
  const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const sample = SAMPLES[name] ?? String(example ?? choices?.[0] ?? name);
  const value = choices ? name : sample.replaceAll('"', '');
  const about = [description, isMandatory && '(required)'].filter(Boolean).join(' ');
  const option = new Option(`${flag} <${value}>`, about).makeOptionMandatory(isMandatory).default(byDefault);
  if (choices) option.choices(choices);
  if (type === 'integer') option.argParser(wholeNumber);
  if (type === 'number') option.argParser(amount);
  if (type === 'array') option.argParser((text) => text.split(',').filter((part) => part !== ''));
  return { option, sample };
}

const parser = (pattern: RegExp, what: string) => (text: string) => {
  if (pattern.test(text)) return Number(text);
  throw new InvalidArgumentError(`It must be ${what}.`);
};
const wholeNumber = parser(/^\d{1,9}$/, 'a whole number');
const amount = parser(/^(?=.*[1-9])\d{1,15}(?:\.\d{1,2})?$/, 'an amount such as 99.50');
