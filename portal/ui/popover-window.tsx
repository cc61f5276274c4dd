import './aria-texts.ts';
import type { ReactNode, RefObject } from 'react';
import { Dialog, I18nProvider, Popover } from 'react-aria-components';

import { language } from './language.ts';

type Props = { title: string; opener: RefObject<Element | null>; onClose: () => void; children: ReactNode };

/** What a button of `popover.tsx` opens, beside it. */
export function PopoverWindow({ title, opener, onClose, children }: Props) {
  return (
    <I18nProvider locale={language}>
      <Popover
        isOpen
        triggerRef={opener}
        onOpenChange={onClose}
        offset={4}
        // On a telephone a calendar fits neither above nor below its button.
        className="max-w-[calc(100vw-1rem)] overflow-auto rounded-lg border border-line bg-surface shadow-raised max-sm:has-[.picker]:fixed! max-sm:has-[.picker]:top-auto! max-sm:has-[.picker]:bottom-2! max-sm:has-[.picker]:max-h-[calc(100dvh-1rem)]!"
      >
        <Dialog aria-label={title} className="p-3 outline-none">
          {children}
        </Dialog>
      </Popover>
    </I18nProvider>
  );
}
