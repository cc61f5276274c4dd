import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'yaml';

import {
  CHART,
  containerOf,
  DEPLOY,
  environmentOf,
  LEAST,
  type Manifest,
  named,
  openChart,
  workloads,
} from './chart.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const EXAMPLES = readdirSync(join(DEPLOY, 'examples')).map((name) => join(DEPLOY, 'examples', name));
/** Of Chart.yaml, and the newest whose schemas are there. */
const KUBERNETES = ['1.30', '1.37'];
/** Objects of the Prometheus operator have no schema in Kubernetes. */
const FOREIGN = 'monitoring.coreos.com/v1';

let chart: Awaited<ReturnType<typeof openChart>>;
/** The objects of each example. */
const rendered: { example: string; manifests: Manifest[] }[] = [];

beforeAll(async () => {
  chart = await openChart();
  for (const example of EXAMPLES) rendered.push({ example, manifests: await chart.render('--values', example) });
}, 300_000);
afterAll(() => chart.close());

describe.each(EXAMPLES.map((file) => [file.slice(DEPLOY.length + 1), file]))('%s', (_, file) => {
  test('passes the linter of Helm', async () => {
    expect(await chart.lint('--values', file)).toMatchObject({ code: 0 });
  });

  test('renders objects that Kubernetes knows, field by field', async () => {
    const { code, stdout, stderr } = await chart.validate(KUBERNETES, '--values', file);
    const said = `${stdout}${stderr}`.split('\n').filter((line) => /^(ERROR|WARN)/.test(line));
    expect({ code, said: said.filter((line) => !line.includes(FOREIGN)) }).toEqual({ code: 0, said: [] });
  });
});

test('the schemas find a field that Kubernetes does not know', async () => {
  const values = await chart.writeFile('wrong.yaml', 'extraVolumes: [{ name: a, emptyDri: {} }]\n');
  expect(await chart.validate(KUBERNETES, ...LEAST, '--values', values)).toMatchObject({ code: 1 });
});

test('every container runs as another user than root, on a file system that is read only, without rights', () => {
  const all = rendered.flatMap(({ manifests }) => workloads(manifests));
  expect(new Set(all.map(({ name }) => name))).toEqual(
    new Set(['api', 'worker', 'simulator', 'migrate', 'make-current'].map((name) => `pay-meskot-${name}`)),
  );
  for (const { spec } of all) {
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    for (const container of spec.containers) {
      expect(container).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        resources: { requests: { cpu: expect.any(String), memory: expect.any(String) } },
      });
      expect(container.resources.limits).toMatchObject({ memory: expect.any(String) });
    }
  }
});

test('no secret is rendered: what holds one refers to a Secret', () => {
  const all = rendered.flatMap(({ manifests }) => manifests);
  expect(all.filter(({ kind }) => kind === 'Secret' || kind === 'ConfigMap')).toEqual([]);
  const variables = workloads(all).flatMap(({ spec }) => spec.containers.flatMap(({ env }) => env));
  const secret = /DATABASE_URL|SMTP_URL|PEPPER|SECRET|TOKEN|API_KEY|ACCESS_KEY|ENCRYPTION_KEYS/;
  const found = variables.filter(({ name }) => secret.test(name) && !/_(?:FILE|PATH)$/.test(name));
  expect(found.length).toBeGreaterThan(5);
  expect(found.filter(({ value }) => value !== undefined)).toEqual([]);
});

test("only `migrate` has the owner's secret, and it runs before anything of the release changes", () => {
  for (const { manifests } of rendered) {
    const migrate = named(manifests, 'Job', 'pay-meskot-migrate');
    expect(migrate.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
    expect(containerOf(migrate).args).toEqual(['migrate']);
    expect(migrate.spec.template?.spec.restartPolicy).toBe('Never');
    const using = workloads(manifests).filter((one) => JSON.stringify(one).includes('meskot-database-owner'));
    expect(using.map(({ name }) => name)).toEqual(['pay-meskot-migrate']);
  }
});

test('API and workers have probes, are never short of a pod in a release, and one at a time is evicted', async () => {
  const manifests = await chart.render(...LEAST, '--set', 'shutdownDelaySeconds=60');
  for (const name of ['pay-meskot-api', 'pay-meskot-worker']) {
    const deployment = named(manifests, 'Deployment', name);
    const { template } = deployment.spec;
    expect(containerOf(deployment)).toMatchObject({
      startupProbe: { httpGet: expect.anything() },
      livenessProbe: { httpGet: expect.anything() },
      readinessProbe: expect.anything(),
    });
    expect(deployment.spec).toMatchObject({ replicas: 2, strategy: { rollingUpdate: { maxUnavailable: 0 } } });
    // What the process takes: the delay, then 15 s.
    expect(environmentOf(containerOf(deployment))['SHUTDOWN_DELAY_SECONDS']).toBe('60');
    expect(template?.spec.terminationGracePeriodSeconds).toBeGreaterThan(60 + 15);
    const budget = named(manifests, 'PodDisruptionBudget', name);
    expect(budget.spec).toMatchObject({ maxUnavailable: 1 });
    expect(template?.metadata.labels).toMatchObject(budget.spec.selector?.matchLabels ?? { none: 'none' });
  }
  expect(containerOf(named(manifests, 'Deployment', 'pay-meskot-api'))).toMatchObject({
    livenessProbe: { httpGet: { path: '/livez' } },
    readinessProbe: { httpGet: { path: '/readyz' } },
  });
});

test('every setting that the chart gives a process is in the table of settings', () => {
  const settings = read('docs/operations/settings.md');
  const variables = rendered.flatMap(({ manifests }) =>
    workloads(manifests).flatMap(({ spec }) =>
      spec.containers
        .filter(({ args }) => args)
        .flatMap(({ env }) => env.map(({ name }) => name.replace(/_FILE$/, ''))),
    ),
  );
  const named = [...new Set(variables)];
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !settings.includes(`| \`${name}\` `))).toEqual([]);
});

test("the workers' build is the image's tag, and one job makes it current", async () => {
  const manifests = await chart.render(...LEAST, '--set', 'image.tag=1.2.3,temporal.taskQueuePrefix=eu-');
  const worker = containerOf(named(manifests, 'Deployment', 'pay-meskot-worker'));
  expect(worker.image).toBe('ghcr.io/meskot/meskot:1.2.3');
  expect(environmentOf(worker)).toMatchObject({ TEMPORAL_WORKER_BUILD_ID: '1.2.3', TASK_QUEUE_PREFIX: 'eu-' });
  const job = named(manifests, 'Job', 'pay-meskot-make-current');
  expect(job.metadata.annotations?.['helm.sh/hook']).toBe('post-install,post-upgrade,post-rollback');
  const { args, image } = containerOf(job);
  expect({ args, image }).toEqual({ args: ['workflows', 'use-build', '1.2.3'], image: worker.image });
  expect(environmentOf(containerOf(job))).toMatchObject({ TASK_QUEUE_PREFIX: 'eu-' });

  const without = await chart.render(...LEAST, '--set', 'worker.builds.enabled=false');
  const unversioned = environmentOf(containerOf(named(without, 'Deployment', 'pay-meskot-worker')));
  expect(unversioned).not.toHaveProperty('TEMPORAL_WORKER_BUILD_ID');
  expect(() => named(without, 'Job', 'pay-meskot-make-current')).toThrow('No Job');
});

test('an autoscaler sets the number of pods where there is one, and workers also follow the oldest delivery', async () => {
  const scaled = [...LEAST, '--set', 'api.autoscaling.enabled=true,worker.autoscaling.enabled=true'];
  const byCpu = await chart.render(...scaled);
  const metric = 'meskot_webhook_oldest_overdue_seconds';
  for (const name of ['pay-meskot-api', 'pay-meskot-worker']) {
    expect(named(byCpu, 'Deployment', name).spec).not.toHaveProperty('replicas');
    expect(named(byCpu, 'HorizontalPodAutoscaler', name).spec).toMatchObject({ scaleTargetRef: { name } });
  }
  expect(JSON.stringify(byCpu)).not.toContain(metric);
  const byAge = await chart.render(...scaled, '--set', 'worker.autoscaling.oldestDelivery.enabled=true');
  const { spec } = named(byAge, 'HorizontalPodAutoscaler', 'pay-meskot-worker');
  expect(spec['metrics']).toContainEqual({
    type: 'External',
    external: {
      metric: { name: metric, selector: { matchLabels: { namespace: 'meskot' } } },
      target: { type: 'Value', value: '20' },
    },
  });
  const adapter = parse(read('deploy/helm/prometheus-adapter.yaml')) as {
    rules: { external: { name: { as: string } }[] };
  };
  expect(adapter.rules.external.map(({ name }) => name.as)).toEqual([metric]);
});

test('the rules of alerts are rendered as they are written', async () => {
  const rules =
    "groups:\n  - name: meskot\n    rules: [{ alert: A, expr: up == 0, annotations: { text: '{{ $labels.a }}' } }]\n";
  const file = await chart.writeFile('alerts.yml', rules);
  const manifests = await chart.render(...LEAST, '--set-file', `metrics.alertRules=${file}`);
  expect(named(manifests, 'PrometheusRule', 'pay-meskot').spec).toEqual(parse(rules));
});

test.each([
  ['an unknown value', ['--set', 'api.replica=3'], /replica/],
  ['an address without TLS', ['--set', 'portalUrl=http://portal.example.et'], /portalUrl/],
  ['a port that is none', ['--set', 'webhooks.ports={0}'], /ports/],
  ['a digest that is none', ['--set', 'image.digest=latest'], /digest/],
])('%s is refused', async (_, args, message) => {
  const { code, stderr } = await chart.template(...LEAST, ...args);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) });
});

test('an installation without its address or its Temporal is refused', async () => {
  const { code, stderr } = await chart.template();
  expect(code).toBe(1);
  expect(stderr).toContain('/publicBaseUrl');
  expect(stderr).toContain('/temporal/address');
});

test("the chart's version is the program's", () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const described = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')) as Record<string, string>;
  expect(described).toMatchObject({ version, appVersion: version });
});
