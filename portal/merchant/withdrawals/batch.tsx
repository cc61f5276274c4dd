import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useBlocker } from '@tanstack/react-router';
import { useState } from 'react';

import { Note } from '../../ui/badge.tsx';
import { Button, buttonStyle } from '../../ui/button.tsx';
import { channelName } from '../../ui/channel-text.ts';
import { Mono } from '../../ui/copy.tsx';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { saveFile } from '../../ui/download.ts';
import { Facts } from '../../ui/facts.tsx';
import { Empty, Failed, Loaded } from '../../ui/feedback.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { birr, formatCount } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Page } from '../../ui/page.tsx';
import { stateText } from '../../ui/withdrawal-state.tsx';
import { useMember } from '../member.ts';
import { text as shared } from '../quote.tsx';
import { call, useRead, type WithdrawalQuotes } from '../routes.ts';
import { FILE_BYTES_MAX, readBatch, TEMPLATE, type BatchLine, type FileProblem } from './batch-file.ts';
import { BatchLines, resultsOf } from './batch-lines.tsx';
import { problems, text } from './batch-text.ts';
import { csvOf } from './csv.ts';
import { useRun } from './run.ts';

const [HEADING = []] = TEMPLATE;

/** `id`: of the choice, since a corrected file has the same name. */
type ChosenFile = { id: string; name: string; lines: BatchLine[]; problem: FileProblem | null };

async function read(file: File): Promise<ChosenFile> {
  const { name, size } = file;
  const none = { id: crypto.randomUUID(), name, lines: [] };
  if (size > FILE_BYTES_MAX) return { ...none, problem: { name: 'tooLarge', what: String(FILE_BYTES_MAX / 1_000) } };
  // It may have been moved meanwhile.
  const content = await file.text().catch(() => null);
  return content === null ? { ...none, problem: { name: 'unreadable', what: '' } } : { ...none, ...readBatch(content) };
}

/** The API requests a reference once, however often it is sent, by whatever page. */
const request = ({ body }: BatchLine, idempotencyKey: string) =>
  call('POST /api/checkout/withdrawal', { body, idempotencyKey });

/** Whether each line has become a withdrawal that has ended. */
const isOver = (quotes: WithdrawalQuotes | undefined): boolean =>
  quotes?.lines.every(({ withdrawal }) => withdrawal !== undefined && withdrawal.status !== 'PENDING') === true;

/** Quotes of the lines of a file. Under this key they are read again whenever a withdrawal changes, until all have ended. */
function useQuotes(lines: readonly BatchLine[], enabled: boolean) {
  const body = { withdrawals: lines.map((line) => line.body) };
  return useQuery({
    queryKey: ['GET /api/checkout/withdrawal/quotes', { body }],
    queryFn: async ({ signal }) => (await call('POST /api/checkout/withdrawal/quotes', { body, signal })).data,
    placeholderData: keepPreviousData,
    select: (data) => ({ data }),
    enabled: ({ state }) => enabled && !isOver(state.data),
  });
}

/** Requests a withdrawal for each line of a file, once the whole file is right. */
export function WithdrawalBatch() {
  const [file, setFile] = useState<ChosenFile | null>(null);
  const requests = useRun(request);
  useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && !confirm(text.leave),
    disabled: !requests.isRunning,
  });
  const choose = (chosen: ChosenFile): void => {
    requests.forget();
    setFile(chosen);
  };
  return (
    <Page title={text.title} actions={!requests.isRunning && <Choices hasFile={file !== null} onChoose={choose} />}>
      <div className="mb-4 flex max-w-prose flex-col gap-2 text-quiet">
        <p>{text.intro}</p>
        <p>{text.again}</p>
      </div>
      {file === null && (
        <div className="card">
          <Empty title={text.noFile}>
            <p>{text.columns}</p>
            <Mono>{HEADING.join(', ')}</Mono>
          </Empty>
        </div>
      )}
      {file?.problem && (
        <div role="alert">
          <Note tone="bad">{problems[file.problem.name](file.problem.what)}</Note>
        </div>
      )}
      {file && file.problem === null && <Batch key={file.id} file={file} requests={requests} />}
    </Page>
  );
}

function Choices({ hasFile, onChoose }: { hasFile: boolean; onChoose: (file: ChosenFile) => void }) {
  return (
    <>
      <Link to="/withdrawals" className={buttonStyle('plain')}>
        {text.back}
      </Link>
      <Button icon="download" onClick={() => saveFile(csvOf(TEMPLATE), 'withdrawals-template.csv')}>
        {text.template}
      </Button>
      <label
        className={`${buttonStyle(hasFile ? 'second' : 'primary')} has-focus-visible:outline-2 has-focus-visible:outline-brand`}
      >
        <Icon name="plus" />
        {hasFile ? text.chooseOther : text.choose}
        <input
          type="file"
          className="sr-only"
          accept=".csv,text/csv"
          onChange={({ target }) => {
            const [chosen] = target.files ?? [];
            if (chosen) void read(chosen).then(onChoose);
            // The same file can be chosen again.
            target.value = '';
          }}
        />
      </label>
    </>
  );
}

function Batch({ file: { name, lines }, requests }: { file: ChosenFile; requests: Requests }) {
  const quotes = useQuotes(lines, !requests.isRunning);
  return (
    <Loaded query={quotes}>
      {({ data }) => (
        <div className="flex flex-col gap-4">
          <div className="card flex flex-col gap-3 p-4">
            <h2 className="font-semibold">{name}</h2>
            <Summary lines={lines} quotes={data} />
            <Progress requests={requests} />
            <div className="flex flex-wrap items-start gap-2">
              <Send lines={lines} quotes={data} requests={requests} />
              {data.lines.some(({ withdrawal }) => withdrawal) && (
                <Button icon="download" onClick={() => saveFile(csvOf(resultsOf(lines, data)), `results-${name}`)}>
                  {text.results}
                </Button>
              )}
            </div>
          </div>
          <BatchLines lines={lines} quotes={data} failures={requests.failures} />
        </div>
      )}
    </Loaded>
  );
}

type QuotedProps = { lines: readonly BatchLine[]; quotes: WithdrawalQuotes };

/** Whether a line can be requested. */
const isReady = ({ withdrawal, problems }: WithdrawalQuotes['lines'][number]): boolean =>
  withdrawal === undefined && problems.length === 0;

function Summary({ lines, quotes: { lines: quoted, total, available } }: QuotedProps) {
  const limits = useRead('GET /api/checkout/limits', {});
  const channels = new Set(lines.map(({ body }) => body.channel));
  const countOf = (isOne: (line: WithdrawalQuotes['lines'][number]) => boolean): string | false => {
    const count = quoted.filter(isOne).length;
    return count > 0 && formatCount(count);
  };
  const withProblem = countOf(({ problems }) => problems.length > 0);
  const ready = quoted.filter(isReady).length;
  const left = (limits.data?.data ?? [])
    .filter(({ channel }) => channels.has(channel))
    .map(({ channel, payOut: { remainingToday } }) => [
      text.leftToday(channelName(channel)),
      remainingToday === null ? text.noLimit : birr(remainingToday),
    ]);
  return (
    <div aria-live="polite">
      <Facts
        rows={{
          [text.withProblem]: withProblem,
          [text.before]: countOf(({ withdrawal }) => withdrawal !== undefined),
          ...countStates(quoted),
          ...(ready > 0 && { [withProblem ? text.ready : text.toRequest]: formatCount(ready) }),
          // The API's sums are of all lines that have a price.
          ...(ready > 0 &&
            ready === total.count && {
              [text.secondPerson]: countOf(({ needsSecondPerson }) => needsSecondPerson === true),
              [shared.amount]: birr(total.amount),
              [shared.fee]: birr(total.fee),
              [shared.feeTax]: birr(total.feeTax),
              [shared.totalDebit]: <strong className="font-semibold">{birr(total.totalDebit)}</strong>,
            }),
          [text.available]: birr(available),
          ...Object.fromEntries(left),
        }}
      />
    </div>
  );
}

/** What became of the lines that are requested: how many there are of each state. */
function countStates(quoted: WithdrawalQuotes['lines']): Record<string, string> {
  const states = quoted.flatMap(({ withdrawal }) => (withdrawal ? [stateText(withdrawal)] : []));
  return Object.fromEntries(
    [...new Set(states)].map((state) => [state, formatCount(states.filter((one) => one === state).length)]),
  );
}

type Requests = ReturnType<typeof useRun<BatchLine>>;

function Progress({ requests: { isRunning, done, total, error } }: { requests: Requests }) {
  if (total === 0) return null;
  return (
    <>
      <progress aria-label={text.title} value={done} max={total} />
      {/* Not read aloud with every line. */}
      {isRunning && <p>{text.progress(done, total)}</p>}
      <p role="status">{!isRunning && (error === null ? text.done : text.stopped(done, total))}</p>
      {error !== null && <Failed error={error} />}
    </>
  );
}

function Send({ lines, quotes, requests }: QuotedProps & { requests: Requests }) {
  const { whyNot } = useMember();
  const { total } = quotes;
  const wrong = quotes.lines.filter(({ problems }) => problems.length > 0).length;
  const ready = quotes.lines.filter(isReady).length;
  const missing = lines.filter((_line, index) => quotes.lines[index]?.withdrawal === undefined);
  if (requests.isRunning) return null;
  if (missing.length === 0) return requests.total === 0 && <p className="w-full">{text.nothingLeft}</p>;
  return (
    <DialogButton
      kind="primary"
      icon="send"
      label={text.request(ready)}
      whyNot={whyNot('withdrawals:write') ?? (wrong > 0 ? text.correctFirst(wrong) : undefined)}
    >
      {(close) => (
        <FormDialog
          title={text.request(ready)}
          action={text.request(ready)}
          change={{ error: null, isPending: requests.isRunning }}
          onSubmit={() => {
            close();
            requests.start(missing);
          }}
          onClose={close}
        >
          <p>{text.question(total.count, birr(total.amount), birr(total.totalDebit))}</p>
          <p className="text-quiet">{text.reviewed}</p>
        </FormDialog>
      )}
    </DialogButton>
  );
}
