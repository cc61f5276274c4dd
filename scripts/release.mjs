/*
 * `npm run release -- minor` (or major, patch, 1.2.3): sets the version of package.json, package-lock.json and the chart, and
 * gives CHANGELOG.md's section "Unreleased" that version and today's date. Commits nothing.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const [level] = process.argv.slice(2);
if (level === undefined) throw new Error('Usage: npm run release -- <major | minor | patch | version>');

const run = (command, ...args) => execFileSync(command, args, { stdio: 'inherit' });
run('npm', 'version', level, '--no-git-tag-version', '--allow-same-version');
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const chart = 'deploy/helm/meskot/Chart.yaml';
writeFileSync(chart, readFileSync(chart, 'utf8').replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`));
run('npx', '--yes', 'keep-a-changelog@3.1.0', '--release', '--version', version);
run('npx', 'oxfmt', 'CHANGELOG.md');
console.log(`Review the diff, commit it as "release: ${version}", then: git tag v${version}, and push both.`);
