import { useState } from 'react';

import { Badge } from '../badge.tsx';
import { Button } from '../button.tsx';
import { Code } from '../copy.tsx';
import { Dialog } from '../dialog.tsx';
import { Facts, Panel } from '../facts.tsx';
import { Failed, Loaded } from '../feedback.tsx';
import { FormDialog, SecretDialog } from '../form.tsx';
import { QrCode } from '../qr-code.tsx';
import { CodeForm } from '../step-up-dialog.tsx';
import { Time } from '../time.tsx';
import { useChange, useRead } from './routes.ts';
import { text } from './text.ts';

/** Reads again what the person may do. */
const reload = (): void => location.reload();

/** Two-factor authentication: on with a code of the app, its recovery codes, and off again. */
export function TwoFactor() {
  const security = useRead('GET /api/portal/security', {});
  const renew = useChange('POST /api/portal/security/recovery-codes');
  const begin = useChange('POST /api/portal/security/two-factor');
  const [isTurningOff, setTurningOff] = useState(false);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const failure = begin.error ?? renew.error;
  const renewCodes = (): void => renew.mutate({}, { onSuccess: ({ data }) => setCodes(data.recoveryCodes) });
  return (
    <Panel title={text.twoFactor}>
      <p className="text-quiet">{text.twoFactorHelp}</p>
      <Loaded query={security} skeletonRows={2}>
        {({ data: { twoFactorSince, recoveryCodesLeft } }) =>
          twoFactorSince === null ? (
            <div className="flex items-center gap-3">
              <Badge tone="warn">{text.off}</Badge>
              <Button kind="primary" isBusy={begin.isPending} onClick={() => begin.mutate({})}>
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
                  [text.codesLeft]: text.count(recoveryCodesLeft),
                }}
              />
              <div className="flex flex-wrap gap-2">
                <Button isBusy={renew.isPending} onClick={renewCodes}>
                  {text.newCodes}
                </Button>
                <Button onClick={() => setTurningOff(true)}>{text.turnOff}</Button>
              </div>
            </>
          )
        }
      </Loaded>
      {failure && <Failed error={failure} />}
      {begin.data && !codes && <TurnOn {...begin.data.data} onClose={begin.reset} onCodes={setCodes} />}
      {isTurningOff && <TurnOff onClose={() => setTurningOff(false)} />}
      {codes && (
        <SecretDialog
          title={text.codesTitle}
          help={text.codesHelp}
          name={text.codes}
          secret={codes.join('\n')}
          stored={text.stored}
          onClose={reload}
        />
      )}
    </Panel>
  );
}

type TurnOnProps = { secret: string; uri: string; onClose: () => void; onCodes: (codes: readonly string[]) => void };

function TurnOn({ secret, uri, onClose, onCodes }: TurnOnProps) {
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
    <FormDialog
      title={text.turnOffTitle}
      action={text.turnOff}
      kind="danger"
      change={off}
      onSubmit={() => off.mutate({}, { onSuccess: reload })}
      onClose={onClose}
    >
      <p>{text.turnOffHelp}</p>
    </FormDialog>
  );
}
