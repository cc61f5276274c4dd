import { useState } from 'react';

import { amharicOf } from '../../ui/api-meanings.ts';
import { apiText, InEnglish, IssueText, issueText } from '../../ui/api-text.tsx';
import { Badge } from '../../ui/badge.tsx';
import type { CallFailure, FieldIssue } from '../../ui/call.ts';
import { channelName } from '../../ui/channel-text.ts';
import { ApiMessage } from '../../ui/feedback.tsx';
import { Check } from '../../ui/field.tsx';
import { formatBirr } from '../../ui/format.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Time } from '../../ui/time.tsx';
import { failureReason, WithdrawalFailure, WithdrawalState } from '../../ui/withdrawal-state.tsx';
import { text as shared } from '../quote.tsx';
import type { WithdrawalQuotes } from '../routes.ts';
import { findRepeated, headingOf, type BatchLine } from './batch-file.ts';
import { text } from './batch-text.ts';
import { text as own } from './text.ts';

type Quoted = WithdrawalQuotes['lines'][number];
type Row = BatchLine & { quote: Quoted; repeats: number | undefined; failure: CallFailure | undefined };

const problemsOf = ({ quote: { problems, withdrawal }, failure }: Row) =>
  failure && !withdrawal ? [failure] : problems;

const COLUMNS: readonly Column<Row>[] = [
  { header: text.line, narrow: 'labelled', cell: ({ line }) => line },
  { header: shared.requestId, cell: ({ body }) => body.requestId },
  {
    header: shared.amountInBirr,
    align: 'end',
    narrow: 'second',
    cell: ({ body: { amount } }) => (typeof amount === 'number' ? formatBirr(amount) : amount),
  },
  {
    header: shared.fee,
    align: 'end',
    narrow: 'none',
    cell: ({ quote: { fee = 0, feeTax = 0, amount } }) => amount !== undefined && formatBirr(fee + feeTax),
  },
  { header: own.channel, narrow: 'none', cell: ({ body }) => channelName(body.channel) },
  {
    header: own.destination,
    cell: ({ body: { destination } }) =>
      ['accountName', 'phone', 'bankCode', 'accountNumber']
        .flatMap((name) => destination[name as keyof typeof destination] ?? [])
        .join(', '),
  },
  { header: text.state, cell: (row) => <State row={row} /> },
];

function State({ row }: { row: Row }) {
  const { quote, repeats } = row;
  const problems = problemsOf(row);
  return (
    <div className="flex flex-col items-start gap-1">
      {quote.withdrawal && (
        <>
          <WithdrawalState {...quote.withdrawal} />
          <span className="text-xs text-quiet">
            <Time at={quote.withdrawal.requestedAt} />
          </span>
          {quote.withdrawal.failure && <WithdrawalFailure failure={quote.withdrawal.failure} />}
        </>
      )}
      {problems.map((problem) => (
        <div key={problem.code + problem.message} className="max-w-prose text-bad">
          <ProblemText problem={problem} />
        </div>
      ))}
      {!quote.withdrawal && problems.length === 0 && <Badge tone="good">{text.ready}</Badge>}
      {repeats !== undefined && <Badge tone="warn">{text.repeated(repeats)}</Badge>}
    </div>
  );
}

type Problem = Pick<CallFailure, 'code' | 'message' | 'details'>;

/** The issues of values, each with the heading of its column in the file: an amount that is no number is text there. */
const issuesOf = ({ details }: Problem): [heading: string | undefined, issue: FieldIssue][] =>
  details.map((issue) => [
    headingOf(issue.field),
    issue.field === 'amount' && issue.code === 'wrong_type' ? { ...issue, code: 'not_an_amount' } : issue,
  ]);

/** What is wrong with a line: its values, each by its heading, or the line as a whole. */
function ProblemText({ problem }: { problem: Problem }) {
  const { code, message, details } = problem;
  if (details.length === 0) return <ApiMessage code={code} message={message} />;
  return (
    <>
      {issuesOf(problem).map(([heading, issue]) => (
        <p key={issue.field + issue.code}>
          {heading && <span lang="en">{heading}: </span>}
          <IssueText issue={issue} />
        </p>
      ))}
      <InEnglish text={message} />
    </>
  );
}

/** What is wrong with a line, for the file of results. */
function problemText(problem: Problem): string {
  const { code, message, details } = problem;
  if (details.length === 0) return apiText({ text: message, amharic: amharicOf(code) });
  const texts = issuesOf(problem).map(([heading, issue]) => [heading, issueText(issue)].filter(Boolean).join(': '));
  return texts.join(' ');
}

type Props = {
  lines: readonly BatchLine[];
  quotes: WithdrawalQuotes;
  failures: ReadonlyMap<BatchLine, CallFailure>;
};

/** The lines of a file, each with what is wrong with it or what became of it. */
export function BatchLines({ lines, quotes, failures }: Props) {
  const [isNarrowed, setNarrowed] = useState(false);
  const repeated = findRepeated(lines);
  const rows = lines.flatMap((line, index): Row[] => {
    const quote = quotes.lines[index];
    return quote ? [{ ...line, quote, repeats: repeated.get(line.line), failure: failures.get(line) }] : [];
  });
  const hasProblem = (row: Row): boolean =>
    problemsOf(row).length > 0 || row.repeats !== undefined || row.quote.withdrawal?.failure !== undefined;
  const wrong = rows.filter(hasProblem);
  return (
    <div className="card">
      {wrong.length > 0 && (
        <div className="border-b border-line p-3">
          <Check label={text.onlyProblems(wrong.length)} isChecked={isNarrowed} onChange={setNarrowed} />
        </div>
      )}
      <List
        label={text.lines}
        columns={COLUMNS}
        rows={isNarrowed && wrong.length > 0 ? wrong : rows}
        idOf={({ line }) => String(line)}
      />
    </div>
  );
}

/** The lines with what became of them, for a file. */
export function resultsOf(lines: readonly BatchLine[], quotes: WithdrawalQuotes): (string | number)[][] {
  const results = lines.map(({ line, body }, index) => {
    const { withdrawal, problems = [] } = quotes.lines[index] ?? {};
    const { status = 'NOT_REQUESTED', stage = '', withdrawalRequestId = '', providerReference = '' } = withdrawal ?? {};
    const message = withdrawal?.failure ? failureReason(withdrawal.failure) : problems.map(problemText).join(' ');
    const charged = withdrawal ? [withdrawal.fee, withdrawal.feeTax, withdrawal.totalDebit] : ['', '', ''];
    const given = [line, body.requestId, body.amount, body.channel, body.destination.accountName ?? ''];
    return [...given, status, stage, withdrawalRequestId, ...charged, providerReference, message];
  });
  return [RESULT_HEADINGS, ...results];
}

const RESULT_HEADINGS = [
  'Line',
  'Reference',
  'Amount',
  'Channel',
  'Account name',
  'Status',
  'Stage',
  'Withdrawal id',
  'Fee',
  'Tax on the fee',
  'Total debit',
  'Provider reference',
  'Message',
];
