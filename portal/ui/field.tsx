import { useId, type ComponentProps, type ReactNode } from 'react';

import { text } from './text.ts';

type FieldProps = {
  label: string;
  /** A sentence below the label. */
  hint?: ReactNode;
  /** What is wrong with its value. */
  error?: string | undefined;
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

/** A slider between off and on. */
export function Switch({
  label,
  isOn,
  isBusy = false,
  onChange,
}: {
  label: string;
  isOn: boolean;
  isBusy?: boolean;
  onChange: (isOn: boolean) => void;
}) {
  return (
    <label className="inline-flex items-center gap-2 font-medium">
      <input
        type="checkbox"
        role="switch"
        checked={isOn}
        disabled={isBusy}
        onChange={(event) => onChange(event.target.checked)}
        className="peer sr-only"
      />
      <span
        aria-hidden="true"
        className="relative h-6 w-11 rounded-full border border-strong-line bg-sunken peer-checked:border-transparent peer-checked:bg-brand peer-focus-visible:outline-2 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-brand before:absolute before:top-0.5 before:left-0.5 before:size-4.5 before:rounded-full before:bg-strong-line before:transition-transform peer-checked:before:translate-x-5 peer-checked:before:bg-on-brand"
      />
      {label}
    </label>
  );
}
