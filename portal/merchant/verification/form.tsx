import { useEffect, useRef, useState, type FormEvent } from 'react';

import { Button } from '../../ui/button.tsx';
import { CallFailure } from '../../ui/call.ts';
import { environment } from '../../ui/environment.ts';
import { Panel } from '../../ui/facts.tsx';
import { Failed } from '../../ui/feedback.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { formatShare, listed } from '../../ui/format.ts';
import {
  BUSINESS_TYPES,
  DOCUMENT_LABELS,
  FIELD_LABELS,
  FIELD_RULES,
  REGIONS,
  text as fieldText,
  type FieldName,
} from '../../ui/kyc-text.ts';
import { text as kit } from '../../ui/text.ts';
import { toast } from '../../ui/toast.tsx';
import { useMember } from '../member.ts';
import { useChange, type Kyc } from '../routes.ts';
import { Upload } from './documents.tsx';
import {
  applicationOf,
  FIELD_NAMES,
  missingOf,
  NEEDED_DOCUMENTS,
  OTHER_DOCUMENTS,
  PARTS,
  valuesOf,
  type Field,
  type Values,
} from './fields.ts';
import { text } from './text.ts';

/**
 * What has been typed in this tab, until it is saved: a session that ends meanwhile, or another page, loses nothing. The
 * end of a session by the person removes it.
 */
function useDraft(saved: Values) {
  const { merchant } = useMember();
  const storedAs = `meskot.verification.${merchant.merchantId}.${environment}`;
  const [values, setValues] = useState<Values>(() => ({
    ...saved,
    ...JSON.parse(sessionStorage.getItem(storedAs) ?? '{}'),
  }));
  return {
    values,
    isChanged: FIELD_NAMES.some((name) => values[name] !== saved[name]),
    type: (name: FieldName, value: string): void => {
      const next = { ...values, [name]: value };
      setValues(next);
      sessionStorage.setItem(storedAs, JSON.stringify(next));
    },
    keepSaved: (stored: Values): void => {
      setValues(stored);
      sessionStorage.removeItem(storedAs);
    },
  };
}

/** The fields with a wrong value, by the API's response to saving them. */
const wrongFields = (error: unknown): string[] =>
  error instanceof CallFailure ? error.details.map(({ field }) => field) : [];

/** The form's values and what can be done with them. */
function useApplication(kyc: Kyc) {
  const { values, isChanged, type, keepSaved } = useDraft(valuesOf(kyc.application));
  const [tries, setTries] = useState(0);
  const save = useChange('PUT /api/checkout/kyc');
  const submit = useChange('POST /api/checkout/kyc/submit');
  const missing = missingOf(values, kyc.documents);
  const isComplete = missing.fields.length + missing.documents.length === 0;
  const store = async (): Promise<void> => {
    const { data } = await save.mutateAsync({ body: applicationOf(values) });
    keepSaved(valuesOf(data.application));
  };
  const hand = async (): Promise<void> => {
    if (isChanged) await store();
    await submit.mutateAsync({ body: {} });
    toast(text.submitted);
  };
  // A failure is part of what is returned.
  const start = (work: Promise<void>): void => void work.catch(() => {});
  return {
    values,
    isChanged,
    type,
    missing,
    failure: save.error ?? submit.error,
    wrong: wrongFields(save.error),
    tries,
    isIncomplete: tries > 0 && !isComplete,
    isSaving: save.isPending,
    isSubmitting: submit.isPending,
    save: () => start(store().then(() => toast(text.saved))),
    submit: () => {
      setTries(tries + 1);
      if (isComplete) start(hand());
    },
  };
}

/** The application: it is saved as often as wanted, and submitted once it is complete. */
export function ApplicationForm({ kyc }: { kyc: Kyc }) {
  const form = useRef<HTMLFormElement>(null);
  const application = useApplication(kyc);
  const { values, missing, failure, wrong, tries, isIncomplete } = application;
  useEffect(() => {
    if (failure ?? tries > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [failure, tries]);
  const errorOf = (name: FieldName): string | undefined => {
    if (wrong.includes(name)) return `${kit.notAccepted} ${FIELD_RULES[name]}`;
    return tries > 0 && missing.fields.includes(name) ? kit.fillIn : undefined;
  };
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    application.save();
  };
  return (
    // A field that gets the focus is not hidden by the buttons, which stay at the bottom.
    <form
      ref={form}
      noValidate
      className="flex flex-col gap-4 [&_:is(input,select,button)]:scroll-mb-28"
      onSubmit={onSubmit}
    >
      <Progress missing={missing} />
      {PARTS.map(({ title, fields }) => (
        <Panel key={title} title={title}>
          <div className="grid items-end gap-x-4 gap-y-2 sm:grid-cols-2">
            {fields.map((field) => (
              <ApplicationField
                key={field.name}
                field={field}
                error={errorOf(field.name)}
                value={values[field.name]}
                onChange={(value) => application.type(field.name, value)}
              />
            ))}
          </div>
        </Panel>
      ))}
      <DocumentFields kyc={kyc} missing={tries > 0 ? missing.documents : []} />
      <div className="card sticky bottom-0 flex flex-col gap-2 p-3">
        {failure && (wrong.length > 0 ? <p className="text-bad">{text.wrongFields}</p> : <Failed error={failure} />)}
        {isIncomplete && (
          <p role="alert" className="text-bad">
            {text.incomplete}
          </p>
        )}
        <div className="flex flex-wrap items-center justify-end gap-2">
          {application.isChanged && <span className="me-auto text-quiet">{text.unsaved}</span>}
          <Button type="submit" isBusy={application.isSaving}>
            {text.save}
          </Button>
          <Button kind="primary" isBusy={application.isSubmitting} onClick={application.submit}>
            {kyc.status === 'NOT_STARTED' ? text.submit : text.submitAgain}
          </Button>
        </div>
      </div>
    </form>
  );
}

/** How much of what is needed is there, and what is missing. */
function Progress({ missing: { fields, documents, needed } }: { missing: ReturnType<typeof missingOf> }) {
  const names = [...fields.map((name) => FIELD_LABELS[name]), ...documents.map((kind) => DOCUMENT_LABELS[kind])];
  const done = needed - names.length;
  return (
    <div className="card flex flex-col gap-1.5 p-4">
      <div className="flex flex-wrap items-center gap-3">
        <progress className="min-w-32 flex-1" max={needed} value={done} aria-label={text.progress(done, needed)} />
        <span className="font-semibold">
          {formatShare(Math.round((done / needed) * 100) / 100)} · {text.progress(done, needed)}
        </span>
      </div>
      <p className="text-quiet">{names.length === 0 ? text.complete : `${text.missing} ${listed(names)}`}</p>
    </div>
  );
}

const CHOICES: Partial<Record<FieldName, Readonly<Record<string, string>>>> = {
  businessType: BUSINESS_TYPES,
  region: REGIONS,
};

type FieldProps = { field: Field; error: string | undefined; value: string; onChange: (value: string) => void };

function ApplicationField({ field: { name, type = 'text', isOptional }, error, value, onChange }: FieldProps) {
  const choices = CHOICES[name];
  const hint = error === undefined ? FIELD_RULES[name] : undefined;
  const field = { label: FIELD_LABELS[name], hint, isRequired: !isOptional, error };
  const control = { value, onChange: (event: { target: { value: string } }) => onChange(event.target.value) };
  return choices ? (
    <SelectField {...field} choices={[['', fieldText.choose], ...Object.entries(choices)]} {...control} />
  ) : (
    <TextField {...field} type={type} maxLength={500} {...control} />
  );
}

/** The documents, of which some are needed. */
function DocumentFields({ kyc: { documents }, missing }: { kyc: Kyc; missing: readonly string[] }) {
  return (
    <Panel title={fieldText.documents}>
      <ul>
        {[...NEEDED_DOCUMENTS, ...OTHER_DOCUMENTS].map((kind) => (
          <Upload
            key={kind}
            kind={kind}
            documents={documents.filter((document) => document.kind === kind)}
            isRequired={NEEDED_DOCUMENTS.includes(kind)}
            error={missing.includes(kind) ? text.documentNeeded : undefined}
          />
        ))}
      </ul>
    </Panel>
  );
}
