import { useId, type ComponentProps } from 'react';

import { Icon, type IconName } from './icon.tsx';

const BASE =
  'inline-flex min-h-9 items-center justify-center gap-1.5 rounded-md border px-3 py-1 font-medium whitespace-nowrap disabled:border-line disabled:bg-sunken disabled:text-quiet';
const KINDS = {
  primary: 'border-transparent bg-brand text-on-brand hover:opacity-90',
  second: 'border-strong-line bg-surface hover:bg-sunken',
  danger: 'border-transparent bg-live text-white hover:opacity-90',
  plain: 'border-transparent hover:bg-sunken',
} as const;

export type ButtonKind = keyof typeof KINDS;

/** The classes of a button, for links that look like one. */
export const buttonStyle = (kind: ButtonKind = 'second'): string => `${BASE} ${KINDS[kind]}`;

type Props = ComponentProps<'button'> & {
  kind?: ButtonKind;
  icon?: IconName;
  /** Its work is under way: another press does nothing. */
  isBusy?: boolean;
  /** The reason, if it cannot be used: it stands below. */
  whyNot?: string | undefined;
};

/** The heading of the window or page of an element gets the focus: what had it is gone. */
export const focusHeading = (place: Element | null): void =>
  place?.querySelector<HTMLElement>('h1, h2')?.focus({ preventScroll: true });

/** The window or page that an element belongs to. */
export const placeOf = (element: Element | null): Element | null =>
  element?.closest('dialog') ?? document.querySelector('main');

/** A `ref`: when a button goes that has the focus, the heading of what it belongs to gets it. */
export const passFocusOn = (button: HTMLButtonElement) => (): void => {
  if (document.activeElement === button) focusHeading(placeOf(button));
};

/** A button. The reason of one that cannot be used stands below it. */
export function Button({ kind = 'second', icon, isBusy = false, whyNot, className = '', children, ...rest }: Props) {
  const reasonId = useId();
  const button = (
    <button
      type="button"
      {...rest}
      className={`${buttonStyle(kind)} ${className}`}
      disabled={rest.disabled === true || isBusy || whyNot !== undefined}
      aria-busy={isBusy || undefined}
      aria-describedby={whyNot === undefined ? undefined : reasonId}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
  if (whyNot === undefined) return button;
  return (
    <span className="with-reason inline-flex flex-col items-start gap-1">
      {button}
      <span id={reasonId} className="text-xs text-quiet">
        {whyNot}
      </span>
    </span>
  );
}

type IconButtonProps = Omit<ComponentProps<'button'>, 'children'> & { icon: IconName; label: string };

/** A square button with a picture only; `label` is its name. */
export function IconButton({ icon, label, className = '', ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={`inline-flex size-9 shrink-0 items-center justify-center rounded-md hover:bg-sunken disabled:text-strong-line ${className}`}
    >
      <Icon name={icon} />
    </button>
  );
}
