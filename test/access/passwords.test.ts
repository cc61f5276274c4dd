import { passwordIssue } from '../../src/access/users/passwords.ts';

const ABOUT = ['hana.zenebework@coffee.example', 'Hana T. Zenebework'];

test.each([
  ['Zenebework-1', 'common'],
  ['2026 zenebework', 'common'],
  ['z3n3b3w0rk!!', 'common'],
  ['zenebeworkzenebework', 'common'],
  ['HanaZenebework', 'common'],
  ['zenebework.hana.1', 'common'],
  ['Coffee-1234', 'common'],
  ['zenebework drinks tea', null],
  // What is left around a name is no name itself, and a single letter is none.
  ['ha-zenebework-na', null],
  ['zenebework-tttt-1', null],
  ['seven grey donkeys 41', null],
])('of a person’s name and address, "%s" is %s as a password', (password, issue) => {
  expect(passwordIssue(password, ABOUT)).toBe(issue);
});
