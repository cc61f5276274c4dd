import { useState, type ReactNode } from 'react';

import { Button } from './button.tsx';
import type { Days } from './days.ts';
import { Check, Choice } from './field.tsx';
import { formatDays, listed } from './format.ts';
import { Icon, type IconName } from './icon.tsx';
import { onDemand } from './on-demand.tsx';
import { Popover } from './popover.tsx';
import { text } from './text.ts';

const { Component: DayRangePicker } = onDemand(
  () => import('./day-range-picker.tsx').then((file) => file.DayRangePicker),
  <div className="skeleton h-96 w-72" />,
);

type ChipProps = {
  name: string;
  /** What it is set to; undefined: it does not narrow. */
  value: string | undefined;
  icon?: IconName;
  children: (close: () => void) => ReactNode;
};

/** A filter as a button with its name and value, which opens its choices. */
export function FilterChip({ name, value, icon, children }: ChipProps) {
  const label = (
    <>
      <span className={value === undefined ? '' : 'font-normal text-quiet'}>{name}</span>
      {value !== undefined && <span className="max-w-52 truncate text-brand">{value}</span>}
      <Icon name="down" className="size-3 text-quiet" />
    </>
  );
  return (
    <Popover button={label} title={name} {...(icon && { icon })}>
      {children}
    </Popover>
  );
}

type ChoiceProps<Chosen> = {
  name: string;
  values: readonly (readonly [value: string, text: string])[];
  chosen: Chosen;
  onChange: (chosen: string | undefined) => void;
};

/** A filter of several values, kept as a comma list. */
export function ListFilter({ name, values, chosen, onChange }: ChoiceProps<readonly string[]>) {
  const names = values.filter(([value]) => chosen.includes(value)).map(([, label]) => label);
  const toggle = (value: string, isChosen: boolean): void => {
    const next = values.map(([one]) => one).filter((one) => (one === value ? isChosen : chosen.includes(one)));
    onChange(next.length === 0 ? undefined : next.join(','));
  };
  return (
    <FilterChip name={name} value={names.length === 0 ? undefined : listed(names)}>
      {() =>
        values.map(([value, label]) => (
          <Check
            key={value}
            label={label}
            isChecked={chosen.includes(value)}
            onChange={(isChecked) => toggle(value, isChecked)}
          />
        ))
      }
    </FilterChip>
  );
}

/** A filter of one value. */
export function ChoiceFilter({ name, values, chosen, onChange }: ChoiceProps<string | undefined>) {
  const value = values.find(([one]) => one === chosen)?.[1] ?? chosen;
  return (
    <FilterChip name={name} value={value}>
      {(close) => (
        <Choice
          label={name}
          value={chosen ?? ''}
          options={[['', text.any], ...values]}
          onChange={(one) => {
            onChange(one === '' ? undefined : one);
            close();
          }}
        />
      )}
    </FilterChip>
  );
}

type DateFilterProps = {
  name: string;
  /** The chosen days; null: a preset. */
  value: Days | null;
  /** The name of the preset that holds without chosen days. */
  preset: string;
  presets: readonly (readonly [name: string, choose: () => void])[];
  onChange: (days: Days) => void;
};

/** A filter of days: one of some ranges, or days and months of a calendar, which is loaded when it is opened. */
export function DateFilter({ name, value, preset, presets, onChange }: DateFilterProps) {
  const [isPicking, setPicking] = useState(value !== null);
  return (
    <FilterChip name={name} value={value === null ? preset : formatDays(value)} icon="calendar">
      {(close) => (
        <div className={`grid gap-0.5 ${isPicking ? 'grid-cols-2' : ''}`}>
          {presets.map(([presetName, choose]) => (
            <Button
              key={presetName}
              kind="plain"
              className="justify-start"
              aria-pressed={value === null && presetName === preset}
              onClick={() => {
                choose();
                close();
              }}
            >
              {presetName}
            </Button>
          ))}
          {isPicking ? (
            <div className="picker col-span-2 pt-1">
              <DayRangePicker
                value={value}
                onChange={(days) => {
                  onChange(days);
                  close();
                }}
              />
            </div>
          ) : (
            <Button kind="plain" className="justify-start" icon="calendar" onClick={() => setPicking(true)}>
              {text.chooseDays}
            </Button>
          )}
        </div>
      )}
    </FilterChip>
  );
}
