import { useState, type ComponentProps, type ReactNode } from 'react';

import { Button, passFocusOn } from './button.tsx';

type Props = Pick<ComponentProps<typeof Button>, 'kind' | 'icon' | 'whyNot' | 'aria-label'> & {
  label: string;
  /** The window. */
  children: (close: () => void) => ReactNode;
};

/** A button that opens a window. */
export function DialogButton({ label, children, ...button }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button ref={passFocusOn} {...button} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && children(() => setOpen(false))}
    </>
  );
}
