import { useEffect, useRef, useState, type ReactNode } from 'react';

import { Button, type ButtonKind } from './button.tsx';
import type { IconName } from './icon.tsx';
import { onDemand } from './on-demand.tsx';

const { Component: PopoverWindow, load } = onDemand(() =>
  import('./popover-window.tsx').then((file) => file.PopoverWindow),
);

type Props = {
  /** The text of its button; with `label`, that is its name instead. */
  button: ReactNode;
  label?: string;
  icon?: IconName;
  kind?: ButtonKind;
  /** The name of what opens. */
  title: string;
  children: (close: () => void) => ReactNode;
};

/** A button that opens a small window beside it. Esc and a press elsewhere close it. */
export function Popover({ button, label, title, children, ...style }: Props) {
  const [isOpen, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const close = (): void => setOpen(false);
  // Not needed to show the page, and there before somebody presses the button.
  useEffect(() => void load().catch(() => {}), []);
  return (
    <>
      <Button
        {...style}
        ref={opener}
        aria-label={label}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(true)}
      >
        {button}
      </Button>
      {isOpen && (
        <PopoverWindow title={title} opener={opener} onClose={close}>
          {children(close)}
        </PopoverWindow>
      )}
    </>
  );
}
