import { type Config, readConfig, type Variables } from '../../config.ts';
import { type Finding, ok, type Result, warning, wrong } from './check.ts';

/** The settings as far as they can be used, and what is wrong with the others. */
export type SettingsRead = { config: Config | null; problems: string[]; wrongNames: ReadonlySet<string> };

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
export function readSettings(env: Variables): SettingsRead {
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
  return (subject.match(/[A-Z]+(?:_[A-Z]+)*/g) ?? []).map((name) => name.replace(/_FILE$/, ''));
}

/** A line for each wrong setting, or one for all. */
export function settingsFindings({ config, problems }: SettingsRead): Finding[] {
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
