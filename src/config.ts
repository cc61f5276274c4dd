import { z } from 'zod';

import { BUCKET_FIELDS, bucketProblems, isFolderSetting, placesOf } from './lib/file-store.ts';
import { listed, readGiven, type Variables } from './lib/given-settings.ts';
import { isRange } from './lib/ip-range.ts';
import { EncryptionKeys, LOCAL_KEY, LOCAL_PEPPER, Peppers } from './lib/secrets.ts';
import { baseAddress, flag, required, webPort, wholeNumber, wholeNumbers } from './lib/setting-fields.ts';
import { LIVE_CHANNELS } from './merchants/channels/channel.ts';
import { productionProblems, PROVIDER_FIELDS, readLiveProviders } from './providers/settings.ts';

const LOCAL_URL = 'http://localhost:4000';
const LOCAL_DOCUMENTS = '.data/documents';
const LOCAL_REPORTS = '.data/reports';

const QUEUES = ['payments', 'money', 'webhooks', 'reports'] as const;
/** The task queues of workers. `webhooks` has a second one beside it, for sends that hang. */
export type TaskQueue = (typeof QUEUES)[number];

const positive = (defaultValue: number, max: number) => wholeNumber(1, max).default(defaultValue);
const count = (defaultValue: number, max = 1_000_000) => wholeNumber(0, max).default(defaultValue);
const file = z.string().min(1);
const folder = (local: string) =>
  z
    .string()
    .transform((path) => path || local)
    .default(local);
/** The parts between commas; those that are empty do not count. */
const list = z.string().transform((text) => listed(text));
/** Of pages and cookies, which are at the root of a host. */
const site = baseAddress();
/** Of a service, which a proxy may serve below a path. */
const service = baseAddress({ path: true });

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
const share = z
  .string()
  .refine((text) => /^(?:0|1|0?\.\d{1,9}|1\.0{1,9})$/.test(text), 'must be a number from 0 to 1')
  .transform(Number);
/** `name=value,…`, as OpenTelemetry defines it. */
const otlpHeaders = z
  .string()
  .regex(/^[\w-]+=[^,]*(?:,[\w-]+=[^,]*)*$/, 'must be name=value, several separated by commas')
  .transform((text) => Object.fromEntries(new URLSearchParams(text.replaceAll('+', '%2B').replaceAll(',', '&'))));

/** Every setting, its default for local use, and its limits. Documented in docs/operations/settings.md. */
const Fields = z.object({
  MESKOT_MODE: z.enum(['local', 'production']).default('local'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  DATABASE_URL: required('the PostgreSQL database, such as postgresql://meskot_app:password@localhost:5432/meskot'),
  DATABASE_POOL_MAX: positive(10, 200),
  TEMPORAL_ADDRESS: required('host and port of the Temporal server, such as localhost:7233').regex(
    /^(?:\[[\da-f:.]{2,45}\]|[^\s:/?#@[\]]{1,253})(?::\d{1,5})?$/i,
    'must be host and port of the Temporal server alone, such as localhost:7233 or [::1]:7233',
  ),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_RETENTION_DAYS: positive(3, 365),
  TEMPORAL_UI_URL: service.optional(),
  CONSOLE_URL: site.optional(),
  TEMPORAL_TLS: flag.optional(),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: file.optional(),
  TEMPORAL_TLS_SERVER_NAME: z.string().min(1).optional(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: file.optional(),
  TEMPORAL_TLS_CLIENT_KEY_PATH: file.optional(),
  TEMPORAL_API_KEY: z.string().min(1).optional(),
  TEMPORAL_DEPLOYMENT_NAME: z
    .string()
    .regex(/^[\w-]{1,100}$/, 'must be letters, digits, _ and -, at most 100')
    .default('meskot'),
  TEMPORAL_WORKER_BUILD_ID: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'must be letters, digits, ., _ and -, at most 100')
    .optional(),
  TASK_QUEUE_PREFIX: z.string().default(''),
  TASK_QUEUES: list.pipe(z.array(z.enum(QUEUES)).min(1)).default([...QUEUES]),
  LISTEN_HOST: z.string().default('127.0.0.1'),
  API_PORT: webPort(4000),
  PORTAL_PORT: webPort(4001),
  PORTAL_URL: site.optional(),
  CONSOLE_HOST: z.string().min(1).default('127.0.0.1'),
  CONSOLE_PORT: webPort(4004),
  OPERATORS_ON_PUBLIC_API: flag.default(false),
  SMTP_URL: baseAddress({
    protocols: ['smtp', 'smtps'],
    user: true,
    example: 'smtps://user:password@smtp.example.et',
  }).optional(),
  MAIL_FROM: z.string().min(3).default('Meskot <no-reply@localhost>'),
  PORTAL_PAGES_DIR: z.string().min(1).optional(),
  METRICS_PORT: wholeNumber(1, 65_535).default(4009),
  OTEL_EXPORTER_OTLP_ENDPOINT: service.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: otlpHeaders.default({}),
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: share.default(1),
  SHUTDOWN_DELAY_SECONDS: wholeNumber(0, 600).optional(),
  PUBLIC_BASE_URL: site.default(LOCAL_URL),
  SIMULATOR_URL: service.default('http://localhost:4002'),
  SIMULATOR_PUBLIC_URL: service.optional(),
  SIMULATOR_CALLBACK_BASE_URL: service.optional(),
  TRUSTED_PROXY_COUNT: count(0, 10),
  API_KEY_PEPPER: Peppers.prefault(LOCAL_PEPPER),
  ENCRYPTION_KEYS: EncryptionKeys.prefault(`local:${LOCAL_KEY}`),
  KYC_DOCUMENTS_DIR: folder(LOCAL_DOCUMENTS),
  REPORTS_DIR: folder(LOCAL_REPORTS),
  DISK_FREE_MEGABYTES_MIN: count(100, 1_000_000_000),
  WORKFLOW_BUNDLE_PATH: z.string().min(1).optional(),
  WEBHOOK_WORKFLOWS: z.enum(['every', 'failed']).default('every'),
  WEBHOOK_WORKFLOW_START_CONCURRENCY: positive(8, 1_000),
  WEBHOOK_RETRY_SCHEDULE_SECONDS: wholeNumbers({ max: 604_800, most: 20 }).default([60, 300, 1_800, 7_200, 43_200]),
  WEBHOOK_CONCURRENCY_PER_SUBSCRIPTION: positive(50, 1_000),
  WEBHOOK_RESENDS_PER_SECOND: positive(20, 1_000),
  WEBHOOK_PORTS: wholeNumbers({ max: 65_535, most: 100 }).default([443, 8_443]),
  ALLOW_LOOPBACK_WEBHOOKS: flag.optional(),
  EGRESS_DENY_CIDRS: list
    .refine((ranges) => ranges.every(isRange), 'must be networks such as 196.188.0.0/16, separated by commas')
    .default(['168.63.129.16/32']),
  EGRESS_PROXY_URL: baseAddress({ user: true, example: 'http://egress.example.et:8080' }).optional(),
  RATE_LIMIT_SANDBOX_PER_SECOND: count(25),
  RATE_LIMIT_LIVE_PER_SECOND: count(50),
  RATE_LIMIT_LISTS_PER_SECOND: count(20),
  RATE_LIMIT_PAGES_PER_SECOND: count(100),
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: count(10),
});

/** Whether a setting needs TLS, which it implies: no secret is sent in the clear. */
function needsTls(fields: Partial<z.output<typeof Fields>>): boolean {
  const { TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority, TEMPORAL_TLS_SERVER_NAME: serverName } = fields;
  const { TEMPORAL_TLS_CLIENT_CERT_PATH: certificate, TEMPORAL_TLS_CLIENT_KEY_PATH: key } = fields;
  return [authority, serverName, certificate, key, fields.TEMPORAL_API_KEY].some(Boolean);
}

const Settings = Fields.extend(PROVIDER_FIELDS)
  .extend(BUCKET_FIELDS)
  .refine((fields) => fields.TEMPORAL_TLS !== false || !needsTls(fields), {
    path: ['TEMPORAL_TLS'],
    error: 'must not be false beside TEMPORAL_API_KEY or another TEMPORAL_TLS_ setting',
  })
  .refine((fields) => !fields.TEMPORAL_TLS_CLIENT_CERT_PATH === !fields.TEMPORAL_TLS_CLIENT_KEY_PATH, {
    path: ['TEMPORAL_TLS_CLIENT_CERT_PATH'],
    error: 'and TEMPORAL_TLS_CLIENT_KEY_PATH must be set together',
  });

export type Config = ReturnType<typeof readConfig>;
export type { Variables } from './lib/given-settings.ts';

/** This process's environment, for callers that add to it before reading the settings. */
export const environment: Variables = process.env;

/** The names of the settings of a schema. */
const namesOf = (schema: z.ZodType): string[] => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);

/** Values of settings with such names are not printed: they hold passwords. */
const PRIVATE_SETTING = /URL|KEY|PEPPER|SECRET|TOKEN|HEADERS/;

/** Reads settings by a schema. Throws one error that lists every wrong one, the allowed values and the given one. */
export function parseSettings<Schema extends z.ZodType>(schema: Schema, env: Variables): z.output<Schema> {
  const given = readGiven(namesOf(schema), env);
  const parsed = schema.safeParse(given, { error: oneOfThese });
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map(({ path, message }) => {
    const name = path.join('.');
    const value = PRIVATE_SETTING.test(name) ? undefined : given[name];
    return `  ${name} ${message}${value === undefined ? '' : `, got ${JSON.stringify(value)}`}`;
  });
  throw new Error(`These settings are wrong (docs/operations/settings.md explains them):\n${lines.join('\n')}`);
}

function oneOfThese(issue: z.core.$ZodRawIssue): string | undefined {
  return issue.code === 'invalid_value' ? `must be one of ${issue.values.join(', ')}` : undefined;
}

/**
 * The settings as the processes use them. Throws one error that lists every wrong setting, what is allowed, and in
 * production every default that is only fit for local use. A command that uses no secrets needs none.
 */
export function readConfig(env: Variables = environment, { usesSecrets = true }: { usesSecrets?: boolean } = {}) {
  const { API_KEY_PEPPER: peppers, ENCRYPTION_KEYS: keyRing, ...settings } = parseSettings(Settings, env);
  const production = settings.MESKOT_MODE === 'production';
  const allowLoopback = settings.ALLOW_LOOPBACK_WEBHOOKS ?? !production;
  if (production && usesSecrets) rejectLocalDefaults(readGiven(namesOf(Settings), env), allowLoopback);
  for (const name of ['LISTEN_HOST', 'CONSOLE_HOST'] as const) {
    if (!production) requireLoopback(name, settings[name]);
  }
  checkProviders(settings, production);
  const problems = bucketProblems(readGiven(namesOf(Settings), env)).map((problem) => `  ${problem}`);
  if (problems.length > 0) throw new Error(`These settings of files are wrong:\n${problems.join('\n')}`);
  const { files, folders } = placesOf(settings);
  return {
    ...settings,
    /** The current pepper, which hashes new keys; `peppers` also has the previous ones, which still verify. */
    API_KEY_PEPPER: peppers[0],
    peppers,
    keyRing,
    production,
    usesTemporalTls: settings.TEMPORAL_TLS ?? needsTls(settings),
    /** The providers of live channels, with the settings that are missing. */
    liveProviders: readLiveProviders(settings),
    egress: { allowLoopback, ports: settings.WEBHOOK_PORTS, deny: settings.EGRESS_DENY_CIDRS },
    /** The sandbox's providers; in production customers reach them only where the installation exposes them. */
    simulator: {
      simulatorUrl: settings.SIMULATOR_URL,
      simulatorPublicUrl: settings.SIMULATOR_PUBLIC_URL ?? (production ? null : settings.SIMULATOR_URL),
      simulatorCallbackUrl: settings.SIMULATOR_CALLBACK_BASE_URL,
    },
    /** Where merchants' documents and reports are. */
    files,
    /** The folders the process writes to; its log goes to stdout, in a local start beside these folders. */
    disks: { folders, freeMegabytesMin: settings.DISK_FREE_MEGABYTES_MIN },
    /** No load balancer is in front of a local process, and Ctrl-C is quick. */
    shutdownDelayMs: (settings.SHUTDOWN_DELAY_SECONDS ?? (production ? 5 : 0)) * 1_000,
  };
}

/** Addresses of this machine only: 127.0.0.0/8, ::1 and localhost. */
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/;

/** Throws unless the host is a loopback address: the secrets of local mode are published. */
export function requireLoopback(name: string, host: string): void {
  if (LOOPBACK.test(host)) return;
  throw new Error(
    `${name} is ${JSON.stringify(host)}, but local mode listens on this machine only (127.0.0.1, ::1 or localhost), ` +
      'since its secrets are published: set MESKOT_MODE=production and secrets of your own.',
  );
}

/** Throws where local mode could take real money, and for what {@link productionProblems} finds, whatever else is missing. */
function checkProviders(settings: Readonly<Record<string, unknown>>, production: boolean): void {
  if (production) {
    const problems = productionProblems(settings).map((problem) => `  ${problem}`);
    if (problems.length > 0) throw new Error(`These settings of live providers are wrong:\n${problems.join('\n')}`);
    return;
  }
  for (const name of LIVE_CHANNELS.map((channel) => `${channel}_BASE_URL`)) {
    const baseUrl = settings[name];
    if (typeof baseUrl === 'string') requireLoopback(name, new URL(baseUrl).hostname);
  }
}

/** Settings that production requires, and their local defaults. */
const LOCAL_DEFAULTS = {
  API_KEY_PEPPER: LOCAL_PEPPER,
  ENCRYPTION_KEYS: LOCAL_KEY,
  PUBLIC_BASE_URL: LOCAL_URL,
  KYC_DOCUMENTS_DIR: LOCAL_DOCUMENTS,
  REPORTS_DIR: LOCAL_REPORTS,
};

function rejectLocalDefaults(env: Variables, allowLoopbackWebhooks: boolean): void {
  const problems = Object.entries(LOCAL_DEFAULTS)
    .filter(([name, local]) => !env[name] || env[name].includes(local))
    .filter(([name]) => !env['S3_BUCKET'] || !isFolderSetting(name))
    .map(([name]) => `  ${name} must be set to a value of your own${isFolderSetting(name) ? ', or S3_BUCKET' : ''}`);
  for (const name of ['PORTAL_URL', 'CONSOLE_URL']) {
    if (env[name] && !env['SMTP_URL']) problems.push(`  SMTP_URL must be set beside ${name}`);
  }
  if (allowLoopbackWebhooks) problems.push('  ALLOW_LOOPBACK_WEBHOOKS must not be true');
  for (const name of ['PUBLIC_BASE_URL', 'PORTAL_URL', 'CONSOLE_URL']) {
    if (env[name] && !env[name].startsWith('https://')) problems.push(`  ${name} must be https`);
  }
  for (const name of Object.keys(env).filter((one) => one.startsWith('MESKOT_DEMO_') && env[one])) {
    problems.push(`  ${name} must not be set: demo data is for local use`);
  }
  if (problems.length > 0) throw new Error(`MESKOT_MODE=production refuses to start:\n${problems.join('\n')}`);
}

/** A workflow's page in the Temporal UI; null where none is configured. */
export function workflowUrl({ TEMPORAL_UI_URL, TEMPORAL_NAMESPACE }: Config, workflowId: string): string | null {
  if (TEMPORAL_UI_URL === undefined) return null;
  const workflows = `${TEMPORAL_UI_URL}/namespaces/${encodeURIComponent(TEMPORAL_NAMESPACE)}/workflows`;
  return `${workflows}/${encodeURIComponent(workflowId)}`;
}
