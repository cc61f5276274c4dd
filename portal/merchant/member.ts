import { createContext, use } from 'react';

import { text as kit } from '../ui/text.ts';
import type { Me } from './routes.ts';
import { text } from './text.ts';

/** A person who belongs to a merchant. */
export type Member = Me & { merchant: NonNullable<Me['merchant']> };

const MemberContext = createContext<Member | null>(null);
export const MemberProvider = MemberContext.Provider;

/** The signed-in person, their merchant, and what their role may do. */
export function useMember() {
  const member = use(MemberContext);
  if (member === null) throw new Error('useMember is for screens inside of MemberProvider');
  const { permissions, denied } = member;
  return {
    ...member,
    may: (permission: string): boolean => permissions.includes(permission),
    /** Whom to ask, for a person without this permission. */
    whyNot: (permission: string): string | undefined => {
      const roles = denied.find((one) => one.permission === permission)?.roles;
      return roles && kit.whoCan(roles.map((role) => text[role]).join(', '));
    },
  };
}
