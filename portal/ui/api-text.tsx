import type { ReactNode } from 'react';

import { CallFailure, type FieldIssue } from './call.ts';
import { meaningOf } from './issues.ts';
import { language } from './language.ts';
import { text } from './text.ts';

const isEthiopic = (written: string): boolean => /\p{Script=Ethiopic}/u.test(written);

type ApiTextProps = {
  /** English, unless a person has written it. */
  text: string;
  /** Its meaning. */
  amharic?: string | undefined;
};

/** A text of the API in the language of the page; undefined: its meaning is unknown. */
const inOwnLanguage = ({ text: given, amharic }: ApiTextProps): string | undefined =>
  language === 'en' || isEthiopic(given) ? given : amharic;

/** A text of the API for a file, in the language of the page; one whose meaning is unknown stays as it is. */
export const apiText = (props: ApiTextProps): string => inOwnLanguage(props) ?? props.text;

/** A text of the API in a page, in its language; one whose meaning is unknown is marked as English. */
export function ApiText(props: ApiTextProps) {
  return inOwnLanguage(props) ?? <span lang="en">{props.text}</span>;
}

/** The English words of the API behind a button, on pages of another language: they may be more exact than their meaning. */
export function InEnglish({ text: given }: { text: string }) {
  if (language === 'en' || given === '') return null;
  return (
    <details className="text-xs">
      <summary>{text.inEnglish}</summary>
      <p lang="en">{given}</p>
    </details>
  );
}

/** What is wrong with the value of a field, beside it; undefined: nothing. */
export function issueOf(error: unknown, field: string): ReactNode {
  const found = error instanceof CallFailure ? error.details.find((one) => one.field === field) : undefined;
  return found && <IssueText issue={found} />;
}

/** Whether something is wrong with one of these fields. */
export const isWrongIn = (error: unknown, fields: readonly string[]): boolean =>
  fields.some((field) => issueOf(error, field) !== undefined);

/** An issue in the language of the page, and the API's own words where they say more; but for the value, which is in sight. */
function issueParts({ issue, ...coded }: FieldIssue): [meaning: string, english: string] {
  const { text: meaning, isComplete } = meaningOf(coded);
  const words = isComplete ? '' : issue.replace(/, got .*$/s, '');
  return language === 'en' && words !== '' ? [words, ''] : [meaning, words];
}

/** An issue for a file. */
export const issueText = (issue: FieldIssue): string => issueParts(issue).join(' ').trim();

/** An issue in a page. */
export function IssueText({ issue }: { issue: FieldIssue }) {
  const [meaning, english] = issueParts(issue);
  if (english === '') return meaning;
  return (
    <>
      {meaning} <span lang="en">{english}</span>
    </>
  );
}
