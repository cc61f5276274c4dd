import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

/** What an engine would read; `npm run test:compose` starts it. */
type Service = {
  logging?: unknown;
  cap_drop?: string[];
  security_opt?: string[];
  mem_limit?: string;
  networks?: string[];
  ports?: string[];
  env_file?: unknown[];
  secrets?: string[];
  stop_grace_period?: string;
  environment?: Record<string, string>;
};
const text = readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8');
const compose = parse(text, { merge: true }) as {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
};
const services = Object.entries(compose.services);
const namesOf = (wanted: (service: Service) => boolean): string[] =>
  services.filter(([, service]) => wanted(service)).map(([name]) => name);

test('each service limits its log and its memory, and has no rights of a superuser', () => {
  expect(services.length).toBeGreaterThanOrEqual(12);
  const isLimited = ({ logging, mem_limit: memory }: Service): boolean => logging !== undefined && memory !== undefined;
  expect(namesOf((service) => !isLimited(service))).toEqual([]);
  const isHardened = ({ cap_drop: dropped, security_opt: options }: Service): boolean =>
    dropped?.includes('ALL') === true && options?.includes('no-new-privileges:true') === true;
  expect(namesOf((service) => !isHardened(service))).toEqual([]);
});

test("Temporal and our database share no network and no secret but the services' that use both", () => {
  const { postgres, temporal, 'temporal-postgres': own } = compose.services;
  expect(postgres?.networks).toEqual(['database']);
  expect(own?.networks).toEqual(['temporal-database']);
  expect(temporal?.networks).not.toContain('database');
  expect(temporal?.secrets).toEqual(['temporal_password']);
  expect(namesOf(({ networks }) => networks?.includes('temporal') === true)).toEqual([
    'migrate',
    'api',
    'worker',
    'temporal',
    'temporal-ui',
  ]);
  for (const name of ['database', 'temporal', 'temporal-database', 'sandbox', 'mail']) {
    expect(compose.networks[name]).toEqual({ internal: true });
  }
});

test('only the proxy is reached from other machines', () => {
  const open = services.flatMap(([name, { ports = [] }]) =>
    ports
      .filter((port) => !/^127\.0\.0\.1:|^\$\{CONSOLE_ADDRESS:-127\.0\.0\.1\}:/.test(port))
      .map((port) => [name, port]),
  );
  expect(open).toEqual([
    ['proxy', '${PUBLIC_ADDRESS:-0.0.0.0}:80:80'],
    ['proxy', '${PUBLIC_ADDRESS:-0.0.0.0}:443:443'],
  ]);
});

test('API and worker have the accounts at live providers, and no other service', () => {
  expect(namesOf(({ env_file: files }) => files !== undefined)).toEqual(['api', 'worker']);
});

test('no password stands in the file or in the environment of a service', () => {
  const found = services.flatMap(([name, { environment = {} }]) =>
    Object.keys(environment)
      .filter((key) => /PASSWORD|PEPPER|ENCRYPTION|SECRET|DATABASE_URL/.test(key) && !key.endsWith('_FILE'))
      .map((key) => `${name} ${key}`),
  );
  expect(found).toEqual([]);
});

test('the stop timeout exceeds the time in which the API finishes its requests', () => {
  expect(Number.parseInt(compose.services['api']?.stop_grace_period ?? '', 10)).toBeGreaterThan(5 + 15);
});
