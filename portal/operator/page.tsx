import type { ComponentProps } from 'react';

import { Page as PlainPage } from '../ui/page.tsx';
import { text } from './text.ts';

/** A screen of the console. */
export function Page(props: Omit<ComponentProps<typeof PlainPage>, 'owner'>) {
  return <PlainPage {...props} owner={text.console} />;
}
