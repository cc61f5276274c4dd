/*
 * `npm run release -- minor` (or major, patch, 1.2.3): sets the version of package.json and package-lock.json, and gives
 * CHANGELOG.md's section "Unreleased" that version and today's date. Commits nothing.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const [level] = process.argv.slice(2);
if (level === undefined) throw new Error('Usage: npm run release -- <major | minor | patch | version>');

const run = (command, ...args) => execFileSync(command, args, { stdio: 'inherit' });
run('npm', 'version', level, '--no-git-tag-version', '--allow-same-version');
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
run('npx', '--yes', 'keep-a-changelog@3.1.0', '--release', '--version', version);
run('npx', 'oxfmt', 'CHANGELOG.md');
console.log(`Review the diff, commit it as "release: ${version}", then: git tag v${version}, and push both.`);
