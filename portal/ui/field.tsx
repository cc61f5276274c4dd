import { useId, type ComponentProps, type ReactNode } from 'react';

import { text } from './text.ts';

type FieldProps = {
  label: string;
  /** A sentence below the label. */
  hint?: ReactNode;
  /** What is wrong with its value. */
  error?: ReactNode;
  isRequired?: boolean;
};

type Described = { id: string; 'aria-describedby': string; 'aria-invalid': boolean; 'aria-required': boolean };

/** A label, its control with a hint, and what is wrong with its value. */
export function Field({
  label,
  hint,
  error,
  isRequired = false,
  children,
}: FieldProps & { children: (described: Described) => ReactNode }) {
  const id = useId();
  const describedBy = `${id}-hint ${id}-error`;
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label} {isRequired && <span className="text-xs font-normal text-quiet">({text.required})</span>}
      </label>
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-xs text-quiet">
          {hint}
        </p>
      )}
      {children({
        id,
        'aria-describedby': describedBy,
        'aria-invalid': error !== undefined,
        'aria-required': isRequired,
      })}
      <p id={`${id}-error`} className="text-xs font-medium text-bad">
        {error}
      </p>
    </div>
  );
}

/** A line of text. */
export function TextField({ label, hint, error, isRequired, ...input }: FieldProps & ComponentProps<'input'>) {
  const field = { label, hint, isRequired: isRequired ?? false, error };
  return (
    <Field {...field}>
      {(described) => <input autoComplete="off" {...input} {...described} className="control w-full" />}
    </Field>
  );
}

type Choices = readonly (readonly [value: string, caption: string])[];

/** One of many values. */
export function SelectField({
  label,
  hint,
  error,
  isRequired,
  choices,
  ...select
}: FieldProps & ComponentProps<'select'> & { choices: Choices }) {
  const field = { label, hint, isRequired: isRequired ?? false, error };
  return (
    <Field {...field}>
      {(described) => (
        <select {...select} {...described} className="control w-full">
          {choices.map(([value, caption]) => (
            <option key={value} value={value}>
              {caption}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** A choice of one of a few values. */
export function Choice<Value extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly (readonly [value: Value, text: string])[];
  value: Value;
  onChange: (value: Value) => void;
}) {
  const name = useId();
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 font-medium">{label}</legend>
      {options.map(([one, caption]) => (
        <label key={one} className="flex min-h-8 items-center gap-2">
          <input
            type="radio"
            name={name}
            checked={one === value}
            onChange={() => onChange(one)}
            className="size-4 accent-brand"
          />
          {caption}
        </label>
      ))}
    </fieldset>
  );
}

type CheckProps = { label: ReactNode; isChecked: boolean; onChange: (isChecked: boolean) => void };

/** A box to tick. */
export function Check({ label, isChecked, onChange }: CheckProps) {
  return (
    <label className="flex min-h-8 items-center gap-2">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => onChange(event.target.checked)}
        className="size-4 shrink-0 accent-brand"
      />
      {label}
    </label>
  );
}

type SwitchProps = {
  label: string;
  isOn: boolean;
  isBusy?: boolean;
  /** The reason, if it cannot be used: it stands below. */
  whyNot?: string | undefined;
  /** The id of a text that has the reason, if it cannot be used. */
  reasonId?: string | undefined;
  onChange: (isOn: boolean) => void;
};

/** A slider between off and on. The reason of one that cannot be used stands below it. */
export function Switch({ label, isOn, isBusy = false, whyNot, reasonId, onChange }: SwitchProps) {
  const ownReasonId = useId();
  return (
    <span className="inline-flex flex-col items-start gap-1">
      <label className="inline-flex items-center gap-2 font-medium">
        <input
          type="checkbox"
          role="switch"
          checked={isOn}
          disabled={isBusy || whyNot !== undefined || reasonId !== undefined}
          aria-describedby={whyNot === undefined ? reasonId : ownReasonId}
          onChange={(event) => onChange(event.target.checked)}
          className="peer sr-only"
        />
        <span
          aria-hidden="true"
          className="relative h-6 w-11 rounded-full border border-strong-line bg-sunken peer-checked:border-transparent peer-checked:bg-brand peer-focus-visible:outline-2 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-brand peer-disabled:opacity-50 before:absolute before:top-0.5 before:left-0.5 before:size-4.5 before:rounded-full before:bg-strong-line before:transition-transform peer-checked:before:translate-x-5 peer-checked:before:bg-on-brand"
        />
        {label}
      </label>
      {whyNot !== undefined && (
        <span id={ownReasonId} className="text-xs text-quiet">
          {whyNot}
        </span>
      )}
    </span>
  );
}
