import { systemClock } from '../../lib/clock.ts';
import { createHttpClient } from '../../lib/http-client.ts';
import { LIVE_CHANNELS, type LiveChannel } from '../../providers/settings.ts';
import { CommandError, EXIT } from '../commands/api-client.ts';
import type { Terminal } from '../commands/print.ts';
import { checkChannel } from './channel.ts';
import { type DoctorParts, type Finding, hasWrong } from './check.ts';
import { checkDatabase } from './database.ts';
import { checkDisks, checkEgress } from './machine.ts';
import { checkMail } from './mail.ts';
import { checkPublicAddress } from './public-address.ts';
import { readSettings, settingsFindings } from './settings.ts';
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

/** A line for each finding, the next step included, and a summary. */
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
