import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { readVerbs } from '../../src/app/commands/run-verb.ts';
import { alertNames, PROMETHEUS, readText } from './files.ts';

const promtool = (...args: string[]): string => execFileSync('promtool', args, { cwd: PROMETHEUS, encoding: 'utf8' });

/** Metrics of Prometheus itself, of its rules, and of deploy/backup.sh. */
const NOT_OURS = ['up', 'ALERTS', 'meskot_backup_last_success_timestamp_seconds', 'meskot_backup_archive_failing'];

/** The metrics and labels that the page of metrics documents; a histogram also has its buckets. */
function documented(): { metrics: Set<string>; labels: Set<string> } {
  const rows = readText('docs/operations/what-to-watch.md')
    .split('\n')
    .filter((line) => /^\| `[a-z0-9_]+`/.test(line))
    .map((line) => line.split('|').map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)));
  const metrics = rows.flatMap(([, names = []]) => names.flatMap((name) => [name, `${name}_bucket`]));
  return { metrics: new Set(metrics), labels: new Set(rows.flatMap(([, , , labels = []]) => labels)) };
}

/** The names of metrics in a PromQL expression: what is neither a function, a keyword, a label nor a text. */
function metricsIn(expression: string): string[] {
  const plain = expression
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\b(?:by|without|on|ignoring) \([^)]*\)/g, '')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]/g, '');
  return [...plain.matchAll(/[a-zA-Z_:][\w:]*\b(?! *\()/g)]
    .map(([name]) => name)
    .filter((name) => !['and', 'or', 'unless', 'offset'].includes(name));
}

const ALERTS = readText('deploy/prometheus/alerts.yml');
const RECORDED = [...ALERTS.matchAll(/- record: (\S+)/g)].map(([, name = '']) => name);
const unknownOf = (expressions: string[]): string[] => {
  const known = new Set([...documented().metrics, ...RECORDED, ...NOT_OURS]);
  return [...new Set(expressions.flatMap(metricsIn))].filter((name) => !known.has(name));
};

describe('the alerts', () => {
  test('are valid', () => {
    expect(promtool('check', 'rules', 'alerts.yml')).toContain('SUCCESS');
    expect(promtool('check', 'config', 'prometheus.yml')).toContain('SUCCESS');
  });

  test('fire on their cases, and on no others', () => {
    expect(promtool('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
    const cases = [...readText('deploy/prometheus/alerts.test.yml').matchAll(/^ +- name: (.+)$/gm)].map(
      ([, name = '']) => name,
    );
    expect(cases.toSorted()).toEqual(
      alertNames()
        .flatMap((name) => [`${name} fires`, `${name} is quiet`])
        .toSorted(),
    );
  });

  test('are about documented metrics', () => {
    const expressions = [...ALERTS.matchAll(/ expr: (.+)$/gm)].map(([, expression = '']) => expression);
    expect(expressions.length).toBe(alertNames().length + RECORDED.length);
    expect(unknownOf(expressions)).toEqual([]);
  });

  test('each have a severity, a description and a runbook, which says what to do and when it is over', () => {
    const rules = ALERTS.split(/^ +- alert: /m).slice(1);
    const sections = readText('docs/operations/runbooks.md').split(/^### /m).slice(1);
    expect(sections.map((section) => section.split('\n')[0] ?? '').toSorted()).toEqual(alertNames().toSorted());
    for (const rule of rules) {
      const name = rule.split('\n')[0] ?? '';
      expect(rule).toMatch(/severity: (?:page|ticket) /);
      expect(rule).toMatch(/summary: .+\n +description: .+\n/);
      expect(rule).toContain(`runbook_url: docs/operations/runbooks.md#${name.toLowerCase()}\n`);
      const section = sections.find((one) => one.startsWith(`${name}\n`)) ?? '';
      expect(section).toContain('**Means:**');
      const isLinked = /See \[\w+\]\(#/.test(section);
      if (isLinked) continue;
      expect(section).toMatch(/\*\*Look/);
      expect(section).toMatch(/\*\*(?:Look and do|Do):\*\*/);
      expect(section).toContain('**Over when:**');
    }
  });
});

test('the runbooks name commands that exist', () => {
  const verbs = new Set(readVerbs(resolve(PROMETHEUS, '../..')).map(({ name }) => name));
  const own = new Set(['doctor', 'ledger verify']);
  const named = [...readText('docs/operations/runbooks.md').matchAll(/`meskot (\w+(?: [a-z-]+)?)/g)].map(
    ([, name = '']) => name,
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !own.has(name) && !verbs.has(name))).toEqual([]);
});

describe('the dashboard', () => {
  type Panel = { title: string; targets?: { expr: string }[] };
  const { panels } = JSON.parse(readText('deploy/grafana/meskot.json')) as { panels: Panel[] };
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  test('asks for documented metrics', () => {
    expect(expressions.length).toBeGreaterThan(30);
    expect(unknownOf(expressions)).toEqual([]);
  });

  test('has valid expressions', () => {
    const folder = mkdtempSync(join(tmpdir(), 'meskot-dashboard-'));
    const rules = expressions.map((expr, at) => ({ record: `panel_${at}`, expr: filled(expr) }));
    // JSON is YAML.
    writeFileSync(join(folder, 'rules.yml'), JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    const checked = promtool('check', 'rules', join(folder, 'rules.yml'));
    rmSync(folder, { recursive: true });
    expect(checked).toContain(`${expressions.length} rules found`);
  });

  test('groups by documented labels', () => {
    const { labels } = documented();
    const grouped = expressions.flatMap((expr) =>
      [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(', ')),
    );
    const ofPrometheus = ['le', 'instance', 'role'];
    expect([...new Set(grouped)].filter((label) => !labels.has(label) && !ofPrometheus.includes(label))).toEqual([]);
  });
});

/** With Grafana's variables replaced. */
const filled = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '5m').replaceAll('$environment', '.*');
