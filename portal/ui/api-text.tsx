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

/** A text of the API in the language of the page; one whose meaning is unknown stays as it is. */
export function ApiText({ text: given, amharic }: ApiTextProps) {
  if (language === 'en' || isEthiopic(given)) return given;
  return amharic ?? <span lang="en">{given}</span>;
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

/** An issue in the language of the page, with the API's own words where they say more; but for the value, which is in sight. */
export function IssueText({ issue: { issue, ...coded } }: { issue: FieldIssue }) {
  const { text: meaning, isComplete } = meaningOf(coded);
  if (isComplete) return meaning;
  const words = issue.replace(/, got .*$/s, '');
  if (language === 'en') return words;
  return (
    <>
      {meaning} <span lang="en">{words}</span>
    </>
  );
}
