import type { ComponentProps } from 'react';

import { Page as PlainPage } from '../ui/page.tsx';
import { useMember } from './member.ts';

/** A screen of a merchant. */
export function Page(props: Omit<ComponentProps<typeof PlainPage>, 'owner'>) {
  return <PlainPage {...props} owner={useMember().merchant.name} />;
}
