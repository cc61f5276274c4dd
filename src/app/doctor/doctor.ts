import { type Config, readConfig, type Variables } from '../../config.ts';
import { systemClock } from '../../lib/clock.ts';
import { createHttpClient } from '../../lib/http-client.ts';
import { LIVE_CHANNELS, type LiveChannel } from '../../merchants/channels/channel.ts';
import { CommandError, EXIT } from '../commands/api-client.ts';
import type { Terminal } from '../commands/print.ts';
import { checkBucket } from './bucket.ts';
import { checkChannel } from './channel.ts';
import { type DoctorParts, type Finding, hasWrong, ok, type Result, warning, wrong } from './check.ts';
import { checkDatabase } from './database.ts';
import { checkDisks, checkEgress } from './machine.ts';
import { checkMail } from './mail.ts';
import { checkPublicAddress } from './public-address.ts';
import { checkTemporal } from './temporal.ts';

type Machine = Pick<DoctorParts, 'env' | 'project'> & Partial<Pick<DoctorParts, 'clock'>>;

/**
 * `meskot doctor`: checks what the processes of this machine need, with their settings, and prints a line for each check.
 * Returns the exit code: 1 if something is wrong. Throws CommandError for an unknown channel.
 */
export async function doctor(
  machine: Machine & { terminal: Terminal },
  { channel: named = [], json = false }: { channel?: readonly string[]; json?: boolean },
): Promise<number> {
  const channels = named.map(liveChannel);
  const findings = await examine(machine, channels);
  const { terminal } = machine;
  if (json) terminal.write(`${JSON.stringify(findings, null, 2)}\n`);
  else terminal.write(textOf(findings));
  return hasWrong(findings) ? EXIT.failed : 0;
}

function liveChannel(name: string): LiveChannel {
  const channel = LIVE_CHANNELS.find((one) => one === name.trim().toUpperCase());
  if (channel) return channel;
  throw new CommandError(EXIT.usage, `--channel must be one of ${LIVE_CHANNELS.join(', ')}, got "${name}".`);
}

/** All checks at the same time; their findings in a fixed order. Of the channels only those named, if any are. */
async function examine({ env, clock = systemClock, project }: Machine, named: LiveChannel[]): Promise<Finding[]> {
  const settings = readSettings(env);
  const { config, wrongNames } = settings;
  if (!config) return settingsFindings(settings);
  const unless = async (name: string, run: (parts: DoctorParts) => Promise<Finding[]>): Promise<Finding[]> =>
    wrongNames.has(name) ? [] : run(parts);
  const http = createHttpClient();
  const parts: DoctorParts = { config, env, clock, project, http, wrongNames };
  const channels = named.length > 0 ? named : LIVE_CHANNELS;
  try {
    const groups = await Promise.all([
      unless('DATABASE_URL', async () => checkDatabase(parts, channels)),
      unless('TEMPORAL_ADDRESS', checkTemporal),
      checkDisks(parts),
      checkBucket(parts),
      checkEgress(parts),
      unless('SMTP_URL', checkMail),
      unless('PUBLIC_BASE_URL', checkPublicAddress),
      ...channels.map((channel) => checkChannel({ ...parts, channel }, named.length > 0)),
    ]);
    return [...settingsFindings(settings), ...groups.flat()];
  } finally {
    await http.close();
  }
}

function textOf(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.map(({ status, name, found, next }) => {
    const step = next === null ? '' : ` Next: ${next}`;
    return `${status.padEnd(7)}  ${name.padEnd(width)}  ${found}${step}`;
  });
  const count = (status: Finding['status']): number => findings.filter((one) => one.status === status).length;
  const summary = `${findings.length} checks: ${count('ok')} ok, ${count('warning')} warning, ${count('wrong')} wrong.`;
  return `${[...lines, summary].join('\n')}\n`;
}

type SettingsRead = { config: Config | null; problems: string[]; wrongNames: ReadonlySet<string> };

/** More than there are stages of validation. */
const READINGS_MAX = 10;
/** In place of wrong settings that have no default. `isUsable` excludes checks of them. */
const STAND_INS: Readonly<Record<string, string>> = {
  MESKOT_MODE: 'production',
  DATABASE_URL: 'postgresql://127.0.0.1:1/none',
  TEMPORAL_ADDRESS: '127.0.0.1:1',
};

/**
 * Reads the settings as the processes do. Their validation ends at its first stage with errors: here wrong ones are left
 * out, so that all are found, and the checks that do not depend on them run.
 */
function readSettings(env: Variables): SettingsRead {
  const current = { ...env };
  const [problems, wrongNames] = [new Set<string>(), new Set<string>()];
  let usesSecrets = true;
  for (let reading = 1; reading <= READINGS_MAX; reading += 1) {
    try {
      return { config: readConfig(current, { usesSecrets }), problems: [...problems], wrongNames };
    } catch (error) {
      const { message } = error as Error;
      for (const line of problemsIn(message)) problems.add(line);
      // What production requires is not required for the checks.
      if (message.startsWith('MESKOT_MODE=production refuses')) usesSecrets = false;
      else for (const name of problemsIn(message).flatMap(namesIn)) leaveOut(name);
    }
  }
  return { config: null, problems: [...problems], wrongNames };

  function leaveOut(name: string): void {
    wrongNames.add(name);
    delete current[`${name}_FILE`];
    delete current[name];
    if (name in STAND_INS) current[name] = STAND_INS[name];
  }
}

/** The lines of a list, or the message itself. */
function problemsIn(message: string): string[] {
  const listed = message.split('\n').filter((line) => line.startsWith('  '));
  return (listed.length > 0 ? listed : [message]).map((line) => line.trim());
}

/** The settings at the beginning of a message: "A and B must be set together". */
function namesIn(problem: string): string[] {
  const [subject = ''] = problem.split(/ (?:must|is|cannot|has|repeats) /);
  return (subject.match(/[A-Z][A-Z\d]*(?:_[A-Z\d]+)*/g) ?? []).map((name) => name.replace(/_FILE$/, ''));
}

function settingsFindings({ config, problems }: SettingsRead): Finding[] {
  const results: Result[] = problems.map((problem) =>
    wrong(problem.endsWith('.') ? problem : `${problem}.`, 'Correct it as in docs/operations/settings.md.'),
  );
  if (config?.production && config.TRUSTED_PROXY_COUNT === 0) results.push(NO_PROXY);
  if (results.length === 0) {
    results.push(ok(config?.production ? 'All valid, in production mode.' : 'All valid, in local mode.'));
  }
  return results.map((result) => ({ name: 'settings', ...result }));
}

const NO_PROXY = warning(
  'TRUSTED_PROXY_COUNT is 0, but the proxy that ends TLS is in front of the API: it is taken for every client.',
  'Set it to the number of proxies, so that rate limits and the IP ranges of keys see the clients.',
);
