import { readFileSync } from 'node:fs';

export type Variables = Readonly<Record<string, string | undefined>>;

const FILE = '_FILE';
const textOf = (env: Variables, name: string): string => env[name]?.trim() ?? '';

/** Whether a setting has a value, or a file with it. */
export const isGiven = (env: Variables, name: string): boolean =>
  textOf(env, name) !== '' || textOf(env, name + FILE) !== '';

/** The environment with other settings, also where it has a file for one of them. */
export function replaceSettings(env: Variables, settings: Variables): Variables {
  const files = Object.keys(settings).map((name) => [name + FILE, undefined]);
  return { ...env, ...Object.fromEntries(files), ...settings };
}

/** The environment with defaults for the settings that it does not give. */
export function addDefaults(env: Variables, defaults: Variables): Variables {
  return { ...env, ...Object.fromEntries(Object.entries(defaults).filter(([name]) => !isGiven(env, name))) };
}

/** The parts of a value with commas, without those that are empty. */
export const listed = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/**
 * The environment with these settings as they are used: from the variable, or from the file that `<setting>_FILE`
 * names; without white space around, so without the CR of a file from Windows; undefined where nothing is left. Throws one
 * error that lists what cannot be read.
 */
export function readGiven(names: readonly string[], env: Variables): Variables {
  const problems: string[] = [];
  const read = names.map((name) => {
    try {
      return [name, readOne(name, env)] as const;
    } catch (error) {
      problems.push(`  ${(error as Error).message}`);
      return [name, undefined] as const;
    }
  });
  if (problems.length > 0) throw new Error(`These settings cannot be read:\n${problems.join('\n')}`);
  return { ...env, ...Object.fromEntries(read) };
}

function readOne(name: string, env: Variables): string | undefined {
  const [own, path] = [textOf(env, name), textOf(env, name + FILE)];
  if (own !== '' && path !== '') throw new Error(`${name} and ${name}${FILE} must not both be set`);
  const text = path === '' ? own : readText(name, path);
  // Compose takes them off, `docker run --env-file` does not: taken as part of a secret, it would be another one.
  if (/^(["']).*\1$/s.test(text)) throw new Error(`${name} must not have quotes around it: they are part of the value`);
  return text === '' ? undefined : text;
}

function readText(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new Error(`${name}${FILE} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
