import { useState, type ReactNode } from 'react';

import { ApiText } from '../../ui/api-text.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/copy.tsx';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failed } from '../../ui/feedback.tsx';
import { formatCount } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';
import { List, type Column } from '../../ui/list.tsx';
import { text as kit } from '../../ui/text.ts';
import { useOperator } from '../operator.ts';
import { useChange, type BankFileReport } from '../routes.ts';

const text = catalogue({
  title: ["Bank's file", 'የባንክ ፋይል'],
  help: [
    'A CSV with the columns settlementId, result (credited, failed or returned), bankReference, date and reason. Each line is booked by itself; a line that was booked before changes nothing.',
    'settlementId፣ result (credited፣ failed ወይም returned)፣ bankReference፣ date እና reason ዓምዶች ያሉት CSV። እያንዳንዱ መስመር ለብቻው ይመዘገባል፤ ከዚህ በፊት የተመዘገበ መስመር ምንም አይለውጥም።',
  ],
  choose: ['Choose the file', 'ፋይሉን ይምረጡ'],
  preview: (lines: number) => [
    `Lines that will be booked: ${formatCount(lines)}`,
    `የሚመዘገቡ መስመሮች፦ ${formatCount(lines)}`,
  ],
  book: ['Book these lines', 'እነዚህን መስመሮች ይመዝግቡ'],
  result: ['Result', 'ውጤት'],
  line: ['Line', 'መስመር'],
  settlement: ['Settlement', 'ዝውውር'],
  what: ['What was done', 'የተደረገው'],
  already: ['booked before', 'ከዚህ በፊት የተመዘገበ'],
});

type Chosen = { content: Blob; lines: readonly string[] };
type Line = { line: number; settlementId: string | null; what: ReactNode };

const COLUMNS: readonly Column<Line>[] = [
  { header: text.line, cell: ({ line }) => formatCount(line) },
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
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const book = useChange('POST /api/ops/settlements/bank-file');
  const choose = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    const content = await file.text();
    const lines = content.split(/\r?\n/).filter((line) => line.trim() !== '');
    // Whatever the machine thinks of the name, the API takes CSV.
    setChosen({ content: new File([content], file.name, { type: 'text/csv' }), lines });
  };
  return (
    <Dialog title={text.title} onClose={onClose}>
      <p className="text-quiet">{text.help}</p>
      {book.data ? (
        <Report report={book.data.data} />
      ) : (
        <>
          <label className="flex flex-col gap-1 font-medium">
            {text.choose}
            <input type="file" accept=".csv,text/csv" onChange={({ target }) => void choose(target.files?.[0])} />
          </label>
          {chosen && (
            <>
              <p className="font-medium">{text.preview(chosen.lines.length - 1)}</p>
              <CodeBlock value={chosen.lines.join('\n')} name={text.title} />
            </>
          )}
        </>
      )}
      {book.error && <Failed error={book.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{book.data ? kit.close : kit.cancel}</Button>
        {!book.data && (
          <Button
            kind="primary"
            disabled={chosen === null || chosen.lines.length < 2}
            isBusy={book.isPending}
            onClick={() => chosen && book.mutate({ body: chosen.content })}
          >
            {text.book}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

/** What each line has done. */
function Report({ report: { applied, already, wrong } }: { report: BankFileReport }) {
  const lines: Line[] = [
    ...applied.map(({ result, ...line }) => ({ ...line, what: result })),
    ...already.map(({ result, ...line }) => ({ ...line, what: `${result} (${text.already})` })),
    ...wrong.map(({ issue, ...line }) => ({ ...line, what: <ApiText text={issue} /> })),
  ];
  return (
    <List
      label={text.result}
      columns={COLUMNS}
      rows={lines.toSorted((one, other) => one.line - other.line)}
      idOf={({ line }) => String(line)}
    />
  );
}
