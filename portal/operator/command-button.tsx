import { useContext, useState, type ReactNode } from 'react';

import { issueOf } from '../ui/api-text.tsx';
import { Button, passFocusOn } from '../ui/button.tsx';
import { CallFailure } from '../ui/call.ts';
import { Check, SelectField, TextField } from '../ui/field.tsx';
import { FormDialog } from '../ui/form.tsx';
import { parseBirr } from '../ui/parse-birr.ts';
import { text as kit } from '../ui/text.ts';
import { toast } from '../ui/toast.tsx';
import { commandOf, type Command, type CommandField, type CommandName } from './commands.ts';
import { useOperator } from './operator.ts';
import { useChange } from './routes.ts';
import { text } from './text.ts';
import { Subject } from './views.tsx';

type Values = Readonly<Record<string, string>>;

type CommandProps = {
  name: CommandName;
  /** What it is carried out on, where several buttons of its label are in sight. */
  of?: string;
  /** Its path in the API; undefined: the state does not allow it. */
  address: string | undefined;
  /** Fields of the body that are not typed. */
  body?: object;
  /** What the fields begin with. */
  initial?: Values;
  /** A further reason why this operator may not. */
  whyNot?: string | undefined;
  /** Gets the data of the response, in place of the sentence about it. */
  onDone?: (data: unknown) => void;
};

/** A button that carries out a command after its fields and its reason. What may not be done is disabled, with why. */
export function CommandButton({ name, of, address, whyNot: barrier, ...rest }: CommandProps) {
  const { whyNot } = useOperator();
  const [isOpen, setOpen] = useState(false);
  const command = commandOf(name);
  const viewed = useContext(Subject);
  const subject = of ?? viewed;
  const title = subject === undefined ? command.label : text.about(command.label, subject);
  const reason = whyNot(command.permission) ?? barrier ?? (address === undefined ? text.notAllowedNow : undefined);
  return (
    <>
      <Button
        ref={passFocusOn}
        kind={command.kind ?? 'second'}
        whyNot={reason}
        aria-label={of && title}
        onClick={() => setOpen(true)}
      >
        {command.label}
      </Button>
      {isOpen && address !== undefined && (
        <CommandDialog command={command} title={title} address={address} {...rest} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

type DialogProps = Pick<CommandProps, 'body' | 'initial' | 'onDone'> & {
  command: Command;
  title: string;
  address: string;
  onClose: () => void;
};

/** What a typed value must be, and how that is said. */
const RULES: Partial<Record<CommandField['kind'], { isMet: (value: string) => boolean; text: string }>> = {
  birr: { isMet: (value) => parseBirr(value) !== undefined, text: kit.wrongAmount },
  whole: { isMet: (value) => /^\d{1,9}$/.test(value), text: text.wholeRule },
  email: { isMet: (value) => /^[^\s@]+@[^\s@]+$/.test(value), text: kit.emailRule },
};

function CommandDialog({ command, title, address, body = {}, initial = {}, onDone, onClose }: DialogProps) {
  const [values, setValues] = useState(initial);
  const [isTried, setTried] = useState(false);
  const change = useChange(`${command.method ?? 'POST'} ${address as `/api/ops/${string}`}`);
  const fields = fieldsOf(command);
  const failure = change.error instanceof CallFailure ? change.error : null;
  const issues = failure?.details ?? [];
  const rejected = Object.fromEntries(fields.map((field) => [field.name, rejectionOf(field, failure)]));
  const isBeside =
    issues.length > 0 && Object.values(rejected).filter((one) => one !== undefined).length === issues.length;
  const problems = Object.fromEntries(fields.map((field) => [field.name, problemOf(field, values[field.name] ?? '')]));
  const submit = (): void => {
    setTried(true);
    if (Object.values(problems).some((problem) => problem !== undefined)) return;
    const onSuccess = ({ data }: { data: unknown }): void => {
      onClose();
      if (onDone) onDone(data);
      else toast(isProposal(data) ? text.proposed : (command.done ?? text.done));
    };
    change.mutate({ body: { ...body, ...bodyOf(command, values) } }, { onSuccess });
  };
  return (
    <FormDialog
      title={title}
      action={command.label}
      kind={command.kind ?? 'primary'}
      change={change}
      isErrorBeside={isBeside}
      onSubmit={submit}
      onClose={onClose}
    >
      {command.help !== undefined && <p className="text-quiet">{command.help}</p>}
      {fields.map((field) => (
        <FieldOf
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          error={(isTried ? problems[field.name] : undefined) ?? rejected[field.name]}
          onChange={(value) => setValues({ ...values, [field.name]: value })}
        />
      ))}
    </FormDialog>
  );
}

const isProposal = (data: unknown): boolean => typeof data === 'object' && data !== null && 'proposalId' in data;

/** The fields of a command and its reason. */
function fieldsOf({ fields = [], reason }: Command): readonly CommandField[] {
  if (reason === 'none') return fields;
  const isRequired = reason === 'required';
  return [...fields, { name: 'reason', label: text.reason, hint: text.reasonHelp, kind: 'text', isRequired }];
}

function problemOf({ kind, isRequired = false }: CommandField, value: string): string | undefined {
  if (value.trim() === '') return isRequired ? kit.fillIn : undefined;
  const rule = RULES[kind];
  return rule && !rule.isMet(value.trim()) ? rule.text : undefined;
}

/** Why the API has rejected the value of a field, which may be that of an element of a list; undefined: it has not. */
function rejectionOf({ name, kind }: CommandField, failure: CallFailure | null): ReactNode {
  const path = failure?.details.find(({ field }) => field === name || field.endsWith(`.${name}`))?.field;
  if (path === undefined) return undefined;
  const rule = RULES[kind];
  return rule ? `${kit.notAccepted} ${rule.text}` : issueOf(failure, path);
}

/** Fields without a value are left out. */
function bodyOf({ fields = [], wrap }: Command, { reason, ...values }: Values): object {
  const given = { ...(reason?.trim() && { reason: reason.trim() }) };
  const typed = typedFields(fields, values);
  return wrap === undefined ? { ...typed, ...given } : { [wrap]: [typed], ...given };
}

function typedFields(fields: readonly CommandField[], values: Values): object {
  const typed = fields
    .map(({ name, kind }) => [name, kind, (values[name] ?? '').trim()] as const)
    .filter(([, , value]) => value !== '');
  return Object.fromEntries(
    typed.map(([name, kind, value]) => {
      if (kind === 'check') return [name, value === 'true'];
      if (kind === 'instant') return [name, `${value}:00+03:00`];
      if (kind === 'birr') return [name, parseBirr(value)];
      return [name, kind === 'whole' ? Number(value) : value];
    }),
  );
}

type FieldOfProps = {
  field: CommandField;
  value: string;
  error: ReactNode;
  onChange: (value: string) => void;
};

const INPUT_TYPES: Readonly<Record<string, string>> = { day: 'date', instant: 'datetime-local', email: 'email' };

function FieldOf({ field, value, error, onChange }: FieldOfProps) {
  const { label, hint, isRequired = false } = field;
  if (field.kind === 'check') {
    return <Check label={label} isChecked={value === 'true'} onChange={(isOn) => onChange(String(isOn))} />;
  }
  const common = { label, isRequired, value, error, ...(hint !== undefined && { hint }) };
  if (field.kind === 'choice') {
    return (
      <SelectField
        {...common}
        choices={[['', ''], ...field.values]}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  return (
    <TextField
      {...common}
      type={INPUT_TYPES[field.kind] ?? 'text'}
      {...(field.kind === 'birr' && { inputMode: 'decimal' })}
      maxLength={500}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
