import { Link } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';

import { Note } from '../../ui/badge.tsx';
import { Button, buttonStyle } from '../../ui/button.tsx';
import { Field, TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { text as kit } from '../../ui/text.ts';
import { FINDINGS, text } from './signature-text.ts';
import { findMistake, type Finding } from './signature.ts';

const EMPTY = { body: '', signature: '', secret: '' };

/** Finds out why a signature does not match. The secret never leaves the browser. */
export function SignatureHelper() {
  const [pasted, setPasted] = useState(EMPTY);
  const [finding, setFinding] = useState<Finding | null>(null);
  const [isTried, setTried] = useState(false);
  const change = (changes: Partial<typeof EMPTY>): void => {
    setPasted({ ...pasted, ...changes });
    setFinding(null);
  };
  const missing = (value: string) => (isTried && value === '' ? kit.fillIn : undefined);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (pasted.signature !== '' && pasted.secret !== '') void findMistake(pasted).then(setFinding);
  };
  const back = (
    <Link to="/events" className={buttonStyle()}>
      {text.back}
    </Link>
  );
  return (
    <Page title={text.title} actions={back}>
      <form noValidate onSubmit={submit} className="card flex max-w-3xl flex-col gap-3 p-4 sm:p-6">
        <p className="text-quiet">{text.intro}</p>
        <Field label={text.body} hint={text.bodyHint}>
          {(described) => (
            <textarea
              {...described}
              rows={7}
              spellCheck={false}
              className="control font-mono text-xs"
              value={pasted.body}
              onChange={(event) => change({ body: event.target.value })}
            />
          )}
        </Field>
        <TextField
          label="X-Service-Signature"
          isRequired
          spellCheck={false}
          value={pasted.signature}
          error={missing(pasted.signature)}
          onChange={(event) => change({ signature: event.target.value })}
        />
        <TextField
          label={text.secret}
          hint={text.secretHint}
          isRequired
          spellCheck={false}
          value={pasted.secret}
          error={missing(pasted.secret)}
          onChange={(event) => change({ secret: event.target.value })}
        />
        <div>
          <Button type="submit" kind="primary">
            {text.check}
          </Button>
        </div>
        <div role="status">
          {finding && <Note tone={finding === 'valid' ? 'good' : 'bad'}>{FINDINGS[finding]}</Note>}
        </div>
      </form>
    </Page>
  );
}
