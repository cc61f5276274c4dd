import type { ReactNode } from 'react';
import { Button, Dialog, DialogTrigger, Popover as AriaPopover } from 'react-aria-components';

import { buttonStyle, type ButtonKind } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';

type Props = {
  /** The text of its button; with `label`, that is its name instead. */
  button: ReactNode;
  label?: string;
  icon?: IconName;
  kind?: ButtonKind;
  className?: string;
  /** The name of what opens. */
  title: string;
  children: (close: () => void) => ReactNode;
};

/** A button that opens a small window beside it. Esc and a press elsewhere close it. */
export function Popover({ button, label, icon, kind = 'second', className = '', title, children }: Props) {
  return (
    <DialogTrigger>
      <Button className={`${buttonStyle(kind)} ${className}`} {...(label !== undefined && { 'aria-label': label })}>
        {icon && <Icon name={icon} />}
        {button}
      </Button>
      <AriaPopover
        offset={4}
        className="max-w-[calc(100vw-1rem)] overflow-auto rounded-lg border border-line bg-surface shadow-raised"
      >
        <Dialog aria-label={title} className="p-3 outline-none">
          {({ close }) => children(close)}
        </Dialog>
      </AriaPopover>
    </DialogTrigger>
  );
}
