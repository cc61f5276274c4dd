import { readFileSync } from 'node:fs';

const PROJECT = new URL('../../', import.meta.url);
export const PROMETHEUS = new URL('deploy/prometheus/', PROJECT).pathname;

/** The text of a file of the project. */
export const readText = (path: string): string => readFileSync(new URL(path, PROJECT), 'utf8');

/** The names of the alerts of alerts.yml. */
export function alertNames(): string[] {
  return [...readText('deploy/prometheus/alerts.yml').matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name);
}
