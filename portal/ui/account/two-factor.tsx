import { useState } from 'react';

import { Badge } from '../badge.tsx';
import { Button } from '../button.tsx';
import { CallFailure } from '../call.ts';
import { Code } from '../copy.tsx';
import { Dialog } from '../dialog.tsx';
import { Facts, Panel } from '../facts.tsx';
import { Failed, Loaded } from '../feedback.tsx';
import { TextField } from '../field.tsx';
import { FormDialog, QuestionDialog, SecretDialog } from '../form.tsx';
import { formatCount } from '../format.ts';
import { QrCode } from '../qr-code.tsx';
import { CodeForm } from '../step-up-dialog.tsx';
import { Time } from '../time.tsx';
import { useChange, useRead } from './routes.ts';
import { text } from './text.ts';

/** Two-factor authentication: on with a code of the app, its recovery codes, and off again. */
export function TwoFactor() {
  const security = useRead('GET /api/portal/security', {});
  const renew = useChange('POST /api/portal/security/recovery-codes');
  const [isTurning, setTurning] = useState<'on' | 'off' | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const renewCodes = (): void => renew.mutate({}, { onSuccess: ({ data }) => setCodes(data.recoveryCodes) });
  return (
    <Panel title={text.twoFactor}>
      <p className="text-quiet">{text.twoFactorHelp}</p>
      <Loaded query={security} skeletonRows={2}>
        {({ data: { twoFactorSince, recoveryCodesLeft } }) =>
          twoFactorSince === null ? (
            <div className="flex items-center gap-3">
              <Badge tone="warn">{text.off}</Badge>
              <Button kind="primary" onClick={() => setTurning('on')}>
                {text.turnOn}
              </Button>
            </div>
          ) : (
            <>
              <Facts
                rows={{
                  [text.since]: (
                    <>
                      <Badge tone="good">{text.on}</Badge> <Time at={twoFactorSince} />
                    </>
                  ),
                  [text.codesLeft]: formatCount(recoveryCodesLeft),
                }}
              />
              <div className="flex flex-wrap gap-2">
                <Button isBusy={renew.isPending} onClick={renewCodes}>
                  {text.newCodes}
                </Button>
                <Button onClick={() => setTurning('off')}>{text.turnOff}</Button>
              </div>
            </>
          )
        }
      </Loaded>
      {renew.error && <Failed error={renew.error} />}
      {isTurning === 'on' && !codes && <TurnOn onClose={() => setTurning(null)} onCodes={setCodes} />}
      {isTurning === 'off' && <TurnOff onClose={() => setTurning(null)} />}
      {codes && (
        <SecretDialog
          title={text.codesTitle}
          help={text.codesHelp}
          name={text.codes}
          secret={codes.join('\n')}
          stored={text.stored}
          onClose={() => {
            setCodes(null);
            setTurning(null);
          }}
        />
      )}
    </Panel>
  );
}

type TurnOnProps = { onClose: () => void; onCodes: (codes: readonly string[]) => void };

/** First the password, then a code of the app. */
function TurnOn({ onClose, onCodes }: TurnOnProps) {
  const begin = useChange('POST /api/portal/security/two-factor');
  const [currentPassword, setPassword] = useState('');
  if (begin.data) return <EnterCode {...begin.data.data} onClose={onClose} onCodes={onCodes} />;
  const isWrong = begin.error instanceof CallFailure && begin.error.details.length > 0;
  return (
    <FormDialog
      title={text.twoFactor}
      action={text.goOn}
      whyNot={currentPassword === '' ? text.passwordFirst : undefined}
      change={begin}
      isErrorBeside={isWrong}
      onSubmit={() => begin.mutate({ body: { currentPassword } })}
      onClose={onClose}
    >
      <TextField
        label={text.currentPassword}
        type="password"
        autoComplete="current-password"
        maxLength={256}
        value={currentPassword}
        error={isWrong ? text.wrongPassword : undefined}
        onChange={({ target }) => setPassword(target.value)}
      />
    </FormDialog>
  );
}

function EnterCode({ secret, uri, onClose, onCodes }: TurnOnProps & { secret: string; uri: string }) {
  const confirm = useChange('POST /api/portal/security/two-factor/confirm');
  const send = (code: string): void =>
    confirm.mutate({ body: { code } }, { onSuccess: ({ data }) => onCodes(data.recoveryCodes) });
  return (
    <Dialog title={text.twoFactor} onClose={onClose}>
      <p>{text.scan}</p>
      <QrCode content={uri} label={text.qr} />
      <Facts rows={{ [text.secret]: <Code value={secret} name={text.secret} /> }} />
      <CodeForm change={confirm} onSend={send} onCancel={onClose} />
    </Dialog>
  );
}

function TurnOff({ onClose }: { onClose: () => void }) {
  const off = useChange('POST /api/portal/security/two-factor/off');
  return (
    <QuestionDialog
      title={text.turnOffTitle}
      action={text.turnOff}
      kind="danger"
      change={off}
      input={{}}
      done={text.isOff}
      onClose={onClose}
    >
      <p>{text.turnOffHelp}</p>
    </QuestionDialog>
  );
}
