import { useState, type ReactNode } from 'react';

import { ApiText } from '../../ui/api-text.tsx';
import { Button } from '../../ui/button.tsx';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failed } from '../../ui/feedback.tsx';
import { formatCount } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';
import { List, type Column } from '../../ui/list.tsx';
import { text as kit } from '../../ui/text.ts';
import { BANK_RESULTS } from '../codes.ts';
import { useOperator } from '../operator.ts';
import { useChange, type BankFileReport } from '../routes.ts';

const text = catalogue({
  title: ["Bank's file", 'የባንክ ፋይል'],
  help: [
    'A CSV with the columns settlementId, result (credited, failed or returned), bankReference, date and reason. Each line is booked by itself; a line that was booked before changes nothing.',
    'settlementId፣ result (credited፣ failed ወይም returned)፣ bankReference፣ date እና reason ዓምዶች ያሉት CSV። እያንዳንዱ መስመር ለብቻው ይመዘገባል፤ ከዚህ በፊት የተመዘገበ መስመር ምንም አይለውጥም።',
  ],
  choose: ['Choose the file', 'ፋይሉን ይምረጡ'],
  chooseFirst: ['Choose a file first.', 'መጀመሪያ ፋይል ይምረጡ።'],
  nothing: ['No line of it can be booked.', 'ሊመዘገብ የሚችል መስመር የለውም።'],
  preview: (applied: number, already: number, wrong: number) => [
    `${formatCount(applied)} will be booked, ${formatCount(already)} were booked before, ${formatCount(wrong)} are wrong.`,
    `${formatCount(applied)} ይመዘገባሉ፣ ${formatCount(already)} ከዚህ በፊት ተመዝግበዋል፣ ${formatCount(wrong)} ስህተት አለባቸው።`,
  ],
  book: ['Book these lines', 'እነዚህን መስመሮች ይመዝግቡ'],
  booked: (applied: number, already: number, wrong: number) => [
    `${formatCount(applied)} are booked, ${formatCount(already)} were booked before, ${formatCount(wrong)} are wrong.`,
    `${formatCount(applied)} ተመዝግበዋል፣ ${formatCount(already)} ከዚህ በፊት ተመዝግበዋል፣ ${formatCount(wrong)} ስህተት አለባቸው።`,
  ],
  line: ['Line', 'መስመር'],
  settlement: ['Settlement', 'ዝውውር'],
  what: ['Result', 'ውጤት'],
  already: ['booked before', 'ከዚህ በፊት የተመዘገበ'],
});

type Line = { line: number; settlementId: string | null; what: ReactNode };

const COLUMNS: readonly Column<Line>[] = [
  { header: text.line, cell: ({ line }) => String(line) },
  { header: text.settlement, cell: ({ settlementId }) => settlementId },
  { header: text.what, cell: ({ what }) => what },
];

/** Books the results of a bank's file, after its lines were shown. */
export function BankFileButton() {
  const { whyNot } = useOperator();
  return (
    <DialogButton label={text.title} whyNot={whyNot('settlement.credited')}>
      {(close) => <BankFileDialog onClose={close} />}
    </DialogButton>
  );
}

function BankFileDialog({ onClose }: { onClose: () => void }) {
  const [content, setContent] = useState<File | null>(null);
  const preview = useChange('POST /api/ops/settlements/bank-file/preview');
  const book = useChange('POST /api/ops/settlements/bank-file');
  const choose = async (file: File): Promise<void> => {
    // Whatever the machine thinks of the name, the API takes CSV.
    const chosen = new File([await file.text()], file.name, { type: 'text/csv' });
    setContent(chosen);
    preview.mutate({ body: chosen });
  };
  const previewed = preview.data?.data;
  return (
    <Dialog title={text.title} onClose={onClose}>
      <p className="text-quiet">{text.help}</p>
      {!book.data && (
        <label className="flex flex-col gap-1 font-medium">
          {text.choose}
          <input
            type="file"
            accept=".csv,text/csv"
            disabled={book.isPending}
            onChange={({ target }) => {
              const [file] = target.files ?? [];
              if (file) void choose(file);
              // The same file can be chosen again, once it was corrected.
              target.value = '';
            }}
          />
        </label>
      )}
      {preview.error && <Failed error={preview.error} />}
      {!book.data && previewed && <Report counts={text.preview} report={previewed} />}
      {book.data && <Report counts={text.booked} report={book.data.data} />}
      {book.error && <Failed error={book.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{book.data ? kit.close : kit.cancel}</Button>
        {!book.data && (
          <Button
            kind="primary"
            whyNot={whyNotBook(previewed)}
            isBusy={book.isPending || preview.isPending}
            onClick={() => content && book.mutate({ body: content })}
          >
            {text.book}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

/** Why there is nothing to book; undefined: there is. */
function whyNotBook(previewed: BankFileReport | undefined): string | undefined {
  if (!previewed) return text.chooseFirst;
  return previewed.applied.length === 0 ? text.nothing : undefined;
}

const WrongLine = ({ issue }: { issue: string }) => (
  <span className="text-bad">
    <ApiText text={issue} />
  </span>
);

type ReportProps = {
  counts: (applied: number, already: number, wrong: number) => string;
  report: BankFileReport;
};

/** What each line does, or has done. */
function Report({ counts, report: { applied, already, wrong } }: ReportProps) {
  const title = counts(applied.length, already.length, wrong.length);
  const lines: Line[] = [
    ...applied.map(({ result, ...line }) => ({ ...line, what: BANK_RESULTS[result] })),
    ...already.map(({ result, ...line }) => ({ ...line, what: `${BANK_RESULTS[result]} (${text.already})` })),
    ...wrong.map(({ issue, ...line }) => ({ ...line, what: <WrongLine issue={issue} /> })),
  ];
  return (
    <>
      <p role="status" className="font-medium">
        {title}
      </p>
      <List
        label={title}
        columns={COLUMNS}
        rows={lines.toSorted((one, other) => one.line - other.line)}
        idOf={({ line }) => String(line)}
      />
    </>
  );
}
