import { useState } from 'react';

import { CallFailure } from '../call.ts';
import { Panel } from '../facts.tsx';
import { TextField } from '../field.tsx';
import { Form } from '../form.tsx';
import { text as frame } from '../frame-text.ts';
import { Page } from '../page.tsx';
import { text as kit } from '../text.ts';
import { toast } from '../toast.tsx';
import { Passkeys } from './passkeys.tsx';
import { useChange } from './routes.ts';
import { Sessions } from './sessions.tsx';
import { text } from './text.ts';
import { TwoFactor } from './two-factor.tsx';

/** The security of the person's own account. */
export function SecurityPage() {
  return (
    <Page title={frame.security}>
      <div className="grid items-start gap-4 xl:grid-cols-2">
        <TwoFactor />
        <Password />
        <div className="xl:col-span-2">
          <Passkeys />
        </div>
        <div className="xl:col-span-2">
          <Sessions />
        </div>
      </div>
    </Page>
  );
}

const EMPTY = { currentPassword: '', newPassword: '' };
const ISSUES = {
  currentPassword: text.wrongPassword,
  newPassword: `${text.weakPassword} ${text.passwordRule}`,
};

/** Changes the password. */
function Password() {
  const [values, setValues] = useState(EMPTY);
  const [isTried, setTried] = useState(false);
  const change = useChange('POST /api/portal/security/password');
  const wrong = change.error instanceof CallFailure ? change.error.details.map(({ field }) => field) : [];
  const control = (name: keyof typeof EMPTY) => ({
    type: 'password',
    isRequired: true,
    maxLength: 256,
    value: values[name],
    error: wrong.includes(name) ? ISSUES[name] : isTried && values[name] === '' ? kit.fillIn : undefined,
    onChange: (event: { target: { value: string } }) => setValues({ ...values, [name]: event.target.value }),
  });
  const submit = (): void => {
    setTried(true);
    if (values.currentPassword === '' || values.newPassword === '') return;
    const onSuccess = (): void => {
      setValues(EMPTY);
      setTried(false);
      toast(text.passwordChanged);
    };
    change.mutate({ body: values }, { onSuccess });
  };
  return (
    <Panel title={text.password}>
      <Form
        change={change}
        isErrorBeside={wrong.length > 0}
        action={text.changePassword}
        kind="second"
        onSubmit={submit}
      >
        <TextField label={text.currentPassword} {...control('currentPassword')} autoComplete="current-password" />
        <TextField
          label={text.newPassword}
          hint={text.passwordRule}
          {...control('newPassword')}
          autoComplete="new-password"
        />
      </Form>
    </Panel>
  );
}
