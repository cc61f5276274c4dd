import { passwordIssue } from '../../src/access/users/passwords.ts';

const ABOUT = ['hana.zenebework@coffee.example', 'Hana Zenebework'];

test.each([
  ['Zenebework-1', 'common'],
  ['2026 zenebework', 'common'],
  ['z3n3b3w0rk!!', 'common'],
  ['zenebeworkzenebework', 'common'],
  ['HanaZenebework', 'common'],
  ['zenebework.hana.1', 'common'],
  ['Coffee-1234', 'common'],
  ['zenebework drinks tea', null],
  ['seven grey donkeys 41', null],
])('of a person’s name and address, "%s" is %s as a password', (password, issue) => {
  expect(passwordIssue(password, ABOUT)).toBe(issue);
});
