import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { parseAllDocuments } from 'yaml';

import { findTools, type Outcome } from './tools.ts';

export const DEPLOY = resolve(import.meta.dirname, '../../deploy/helm');
export const CHART = join(DEPLOY, 'meskot');
/** Installed with few values: what every installation has. */
export const LEAST = ['--set', 'publicBaseUrl=https://pay.example.et', '--set', 'temporal.address=temporal:7233'];

type Labels = Readonly<Record<string, string>>;
type Probe = Readonly<Record<string, unknown>>;
export type Variable = {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string } };
};
export type Container = {
  name: string;
  image: string;
  args?: string[];
  command?: string[];
  env: Variable[];
  envFrom?: { secretRef: { name: string } }[];
  securityContext: Readonly<Record<string, unknown>>;
  resources: { requests: Labels; limits: Labels };
} & Readonly<Partial<Record<'startupProbe' | 'livenessProbe' | 'readinessProbe', Probe>>>;
type Pod = {
  metadata: { labels: Labels };
  spec: {
    automountServiceAccountToken: boolean;
    securityContext: Readonly<Record<string, unknown>>;
    terminationGracePeriodSeconds?: number;
    restartPolicy?: string;
    containers: Container[];
  };
};
/** An object of Kubernetes, as far as the tests look at it. */
export type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Labels };
  spec: {
    template?: Pod;
    replicas?: number;
    strategy?: { rollingUpdate?: Labels };
    selector?: { matchLabels: Labels };
  } & Readonly<Record<string, unknown>>;
};
type Peer = Readonly<Record<string, unknown>>;
type Rule = { ports: { port: number | string }[]; from?: Peer[]; to?: Peer[] };
export type Policy = Manifest & {
  spec: { podSelector: { matchLabels: Labels }; policyTypes: string[]; ingress?: Rule[]; egress?: Rule[] };
};

/** Helm with the chart. `render` throws what Helm says against it. */
export async function openChart() {
  const tools = await findTools();
  const folder = await mkdtemp(join(tmpdir(), 'meskot-helm-'));
  const template = async (...args: string[]): Promise<Outcome> =>
    tools.helm('template', 'pay', CHART, '--namespace', 'meskot', ...args);
  const render = async (...args: string[]): Promise<Manifest[]> => {
    const { code, stdout, stderr } = await template(...args);
    if (code !== 0) throw new Error(stderr);
    const documents = parseAllDocuments(stdout);
    if (!Array.isArray(documents)) throw new Error('Helm has rendered nothing');
    return documents.map((one) => one.toJS() as Manifest | null).filter((one) => one !== null);
  };
  return {
    lint: async (...args: string[]) => tools.helm('lint', '--strict', CHART, ...args),
    template,
    render,
    /** What Kubernetes' schemas say against the objects of these values. */
    validate: async (versions: readonly string[], ...args: string[]): Promise<Outcome> => {
      const file = await writeFileOf('rendered.yaml', (await template(...args)).stdout);
      return tools.validate(file, versions);
    },
    writeFile: writeFileOf,
    close: async () => rm(folder, { recursive: true, force: true }),
  };

  async function writeFileOf(name: string, text: string): Promise<string> {
    const file = join(folder, name);
    await writeFile(file, text);
    return file;
  }
}

export const named = (manifests: readonly Manifest[], kind: string, name: string): Manifest => {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  if (!found) throw new Error(`No ${kind} ${name} among ${manifests.map((one) => one.metadata.name).join()}`);
  return found;
};

/** The pods of Deployments and jobs, by the name of these. */
export const workloads = (manifests: readonly Manifest[]): { name: string; spec: Pod['spec'] }[] =>
  manifests.flatMap(({ metadata: { name }, spec }) => (spec?.template ? [{ name, spec: spec.template.spec }] : []));

export const containerOf = (manifest: Manifest): Container => {
  const [container] = manifest.spec.template?.spec.containers ?? [];
  if (!container) throw new Error(`${manifest.metadata.name} has no container`);
  return container;
};

/** The plain values of a container's environment. */
export const environmentOf = ({ env }: Container): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(env.map(({ name, value }) => [name, value]));
