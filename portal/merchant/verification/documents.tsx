import { useId, useState } from 'react';

import type { DocumentKind } from '../../../src/merchants/kyc/schema.ts';
import { buttonStyle } from '../../ui/button.tsx';
import { failureText } from '../../ui/feedback.tsx';
import { formatCount } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { DOCUMENT_LABELS } from '../../ui/kyc-text.ts';
import { text as kit } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange, type Kyc } from '../routes.ts';
import { text } from './text.ts';

type Document = Kyc['documents'][number];

const MEBIBYTE = 1_048_576;
const FILE_RULES = {
  document: { types: 'application/pdf,image/png,image/jpeg', bytesMax: 5 * MEBIBYTE, hint: text.documentHint },
  logo: { types: 'image/png,image/jpeg', bytesMax: 20_000, hint: text.logoHint },
};

/** Files by kind, name, size and time. */
export function Documents({ documents, hasKinds = true }: { documents: readonly Document[]; hasKinds?: boolean }) {
  if (documents.length === 0) return <p className="text-quiet">{text.noFile}</p>;
  return (
    <ul className="flex flex-col gap-1">
      {documents.map(({ documentId, kind, fileName, bytes, uploadedAt }) => (
        <li key={documentId} className="flex flex-wrap gap-x-2">
          {hasKinds && <span className="font-medium">{DOCUMENT_LABELS[kind]}:</span>}
          <span className="min-w-0">{fileName}</span>
          <span className="text-quiet">
            {formatCount(Math.ceil(bytes / 1_000))} kB · <Time at={uploadedAt} />
          </span>
        </li>
      ))}
    </ul>
  );
}

type UploadProps = {
  kind: DocumentKind;
  documents: readonly Document[];
  isRequired?: boolean;
  error: string | undefined;
};

/** The files of one kind, and a button to add one. Each is stored at once. */
export function Upload({ kind, documents, isRequired = false, error }: UploadProps) {
  const id = useId();
  const rule = FILE_RULES[kind === 'LOGO' ? 'logo' : 'document'];
  const [rejected, setRejected] = useState<string>();
  const upload = useChange('POST /api/checkout/kyc/documents');
  const send = (file: File | undefined): void => {
    if (!file) return;
    const wrong = whyRejected(file, kind, rule);
    setRejected(wrong);
    upload.reset();
    if (wrong !== undefined) return;
    const query = { kind, fileName: file.name.slice(0, 200) };
    upload.mutate({ query, body: file }, { onSuccess: () => toast(text.uploaded(file.name)) });
  };
  const problem = rejected ?? (upload.error ? failureText(upload.error) : error);
  return (
    <li className="flex flex-col gap-1 border-b border-line py-3 first:pt-0 last:border-0">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div>
          <p className="font-medium">
            {DOCUMENT_LABELS[kind]}{' '}
            {isRequired && <span className="text-xs font-normal text-quiet">({kit.required})</span>}
          </p>
          <p id={`${id}-hint`} className="text-xs text-quiet">
            {rule.hint}
          </p>
        </div>
        <label className={`${buttonStyle()} has-focus-visible:outline-2 has-focus-visible:outline-brand`}>
          <Icon name="plus" />
          {upload.isPending ? text.uploading : text.addFile}
          <input
            type="file"
            className="sr-only"
            aria-label={text.upload(DOCUMENT_LABELS[kind])}
            aria-describedby={`${id}-hint ${id}-error`}
            aria-invalid={problem !== undefined}
            accept={rule.types}
            disabled={upload.isPending}
            onChange={({ target }) => {
              send(target.files?.[0]);
              // The same file can be chosen again.
              target.value = '';
            }}
          />
        </label>
      </div>
      {documents.length > 0 && <Documents documents={documents} hasKinds={false} />}
      <p id={`${id}-error`} role="alert" className="text-xs font-medium text-bad">
        {problem}
      </p>
    </li>
  );
}

function whyRejected(
  { type, size }: File,
  kind: DocumentKind,
  rule: (typeof FILE_RULES)['document'],
): string | undefined {
  if (!rule.types.split(',').includes(type)) return kind === 'LOGO' ? text.wrongLogoType : text.wrongType;
  return size > rule.bytesMax ? `${text.tooLarge} ${rule.hint}` : undefined;
}
