import { readFileSync } from 'node:fs';

import { readConfig } from '../../src/config.ts';
import { BUCKET_FIELDS } from '../../src/lib/file-store.ts';
import { readLocalSettings } from '../../src/local/settings.ts';
import { CHANNEL_NAMES, LIVE_CHANNELS, manifestOf } from '../../src/merchants/channels/channel.ts';
import type { Setting } from '../../src/providers/manifest.ts';
import { PROVIDER_FIELDS, settingOf } from '../../src/providers/settings.ts';

const FILES = ['src/config.ts', 'src/local/settings.ts', 'src/local/connection.ts', 'src/app/run-process.ts'];
const REQUIRED = { DATABASE_URL: 'postgresql://localhost/meskot', TEMPORAL_ADDRESS: 'localhost:7233' };

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The names of settings, where the schemas declare them. */
function declaredNames(): string[] {
  const names = FILES.flatMap((file) => [...read(file).matchAll(/^ {2}([A-Z][A-Z\d_]+): /gm)]);
  return [...names.map(([, name = '']) => name), ...Object.keys(PROVIDER_FIELDS), ...Object.keys(BUCKET_FIELDS)];
}

/** What the page says of a setting's values. */
const ALLOWED: Readonly<Record<Exclude<Setting['kind'], 'choice'>, string>> = {
  text: 'text',
  page: 'address with path; https in production',
  privateKey: 'private key in PEM',
  publicKeys: 'public keys or certificates in PEM',
};

/** The rows of a provider's own settings, by its manifest. */
function rowsOfProviders(): string[][] {
  return LIVE_CHANNELS.flatMap((channel) => {
    const { service, credentials } = manifestOf(channel);
    const row = (field: string, setting: Setting, prefix = ''): string[] => {
      const isChoice = setting.kind === 'choice';
      const defaultValue = isChoice ? `\`${setting.of[0]}\`` : prefix === '' ? 'none' : settingOf(channel, field);
      const allowed = isChoice ? setting.of.join(', ') : ALLOWED[setting.kind];
      return [`\`${settingOf(channel, field, prefix)}\``, defaultValue, allowed, setting.help];
    };
    return [
      [`\`${channel}_BASE_URL\``, 'none', ALLOWED.page, `${CHANNEL_NAMES[channel]}'s service`],
      ...Object.entries<Setting>({ ...service, ...credentials }).map(([field, setting]) => row(field, setting)),
      ...Object.entries<Setting>(credentials).map(([field, setting]) => row(field, setting, 'PAYOUT_')),
    ];
  });
}

/** The rows of the page's tables: a setting's name and its default, null where the page gives no value. */
function documented(): { name: string; defaultValue: string | null }[] {
  const rows = [...read('docs/operations/settings.md').matchAll(/^\| `([A-Z\d_]+)` +\| (?:`([^`]+)`)?/gm)];
  return rows.map(([, name = '', defaultValue]) => ({ name, defaultValue: defaultValue ?? null }));
}

describe('the page of settings', () => {
  test('names every setting that is read, once, and no other', () => {
    const page = documented().map(({ name }) => name);
    expect(page.toSorted()).toEqual([...new Set(declaredNames())].toSorted());
  });

  test('has the settings of providers as their manifests have them', () => {
    const lines = read('docs/operations/settings.md').split('\n');
    const rows = lines.map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
    expect(rows).toEqual(expect.arrayContaining(rowsOfProviders()));
  });

  test('gives the defaults as they are', () => {
    const given = documented().filter(({ name }) => readConfigNames().includes(name));
    const defaults = given.flatMap(({ name, defaultValue }) => (defaultValue === null ? [] : [[name, defaultValue]]));
    expect(defaults.length).toBeGreaterThan(20);
    expect(readConfig({ ...REQUIRED, ...Object.fromEntries(defaults) })).toEqual(readConfig(REQUIRED));
  });

  test('gives the ports of a local start as they are', () => {
    const ports = documented().filter(({ name, defaultValue }) => name.endsWith('_PORT') && defaultValue !== null);
    const given = Object.fromEntries(ports.map(({ name, defaultValue }) => [name, defaultValue ?? '']));
    expect(readLocalSettings(given, '/project')).toEqual(readLocalSettings({}, '/project'));
  });
});

function readConfigNames(): string[] {
  return Object.keys(readConfig(REQUIRED));
}
