import { join } from 'node:path';

import { DEPLOY, LEAST, type Manifest, named, openChart, type Policy } from './chart.ts';

let chart: Awaited<ReturnType<typeof openChart>>;
let sandbox: Manifest[];

beforeAll(async () => {
  chart = await openChart();
  sandbox = await chart.render('--values', join(DEPLOY, 'examples/own-temporal-and-sandbox.yaml'));
}, 300_000);
afterAll(() => chart.close());

const policies = (manifests: readonly Manifest[]): Policy[] =>
  manifests.filter((one): one is Policy => one.kind === 'NetworkPolicy');

/** Who may reach this port of a pod of the release; undefined where nobody may. */
const whoReaches = (manifests: readonly Manifest[], port: string) =>
  policies(manifests)
    .flatMap(({ spec }) => spec.ingress ?? [])
    .find((rule) => rule.ports.some((one) => one.port === port))?.from;

test('nothing gets in or out of a pod but what a policy names', () => {
  const all = named(sandbox, 'NetworkPolicy', 'pay-meskot-default') as Policy;
  expect(all.spec).toMatchObject({
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'meskot', 'app.kubernetes.io/instance': 'pay' } },
    policyTypes: ['Ingress', 'Egress'],
  });
  expect(all.spec.ingress).toBeUndefined();
  expect(all.spec.egress).toEqual([{ ports: expect.arrayContaining([{ protocol: 'UDP', port: 53 }]) }]);
  // A rule without `from` admits everybody.
  const rules = policies(sandbox).flatMap(({ spec }) => spec.ingress ?? []);
  expect(rules.filter(({ from = [] }) => from.length === 0)).toEqual([]);
});

test('the Ingress controller reaches API and portal, and nobody the console until it is named', async () => {
  const controller = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } } }];
  expect(whoReaches(sandbox, 'api')).toEqual(controller);
  expect(whoReaches(sandbox, 'portal')).toEqual(controller);
  expect(whoReaches(sandbox, 'console')).toBeUndefined();
  const proxy = [{ podSelector: { matchLabels: { app: 'proxy' } } }];
  const opened = await chart.render(...LEAST, '--set-json', `networkPolicy.consoleFrom=${JSON.stringify(proxy)}`);
  expect(whoReaches(opened, 'console')).toEqual(proxy);
});

test("the Ingress has the hosts of the API and the portal, and not the operators' listener", () => {
  const ingress = JSON.stringify(named(sandbox, 'Ingress', 'pay-meskot').spec);
  expect(ingress).toContain('"host":"sandbox.example.et"');
  expect(ingress).toContain('"host":"sandbox-portal.example.et"');
  expect(ingress).toContain('pay-meskot-portal');
  expect(ingress).not.toMatch(/console|metrics|simulator/);
  expect(named(sandbox, 'Service', 'pay-meskot-console').spec).toMatchObject({ type: 'ClusterIP' });
});

test('only API and workers reach the simulator, and only monitoring the metrics', () => {
  expect(JSON.stringify(whoReaches(sandbox, 'simulator'))).toContain('"values":["api","worker"]');
  expect(JSON.stringify(whoReaches(sandbox, 'metrics'))).toContain('"kubernetes.io/metadata.name":"monitoring"');
});

test('webhooks go to the ports of the settings at public addresses, and PostgreSQL and Temporal are where they are named', async () => {
  const manifests = await chart.render(...LEAST, '--set', 'webhooks.ports={443,9443}');
  const { egress = [] } = (named(manifests, 'NetworkPolicy', 'pay-meskot-outside') as Policy).spec;
  expect(egress[0]?.ports.map(({ port }) => port)).toEqual([443, 9443]);
  expect(JSON.stringify(egress[0]?.to)).toContain('"except":["10.0.0.0/8"');
  expect(JSON.stringify(manifests)).toContain('{"name":"WEBHOOK_PORTS","value":"443,9443"}');
  const servers = (named(sandbox, 'NetworkPolicy', 'pay-meskot-servers') as Policy).spec.egress ?? [];
  expect(servers.map(({ ports, to }) => [ports[0]?.port, JSON.stringify(to)])).toEqual([
    [5432, expect.stringContaining('"postgres"')],
    [7233, expect.stringContaining('"temporal"')],
  ]);
});
