import { createContext, use } from 'react';

import { text as kit } from '../ui/text.ts';
import type { Me } from './routes.ts';

const OperatorContext = createContext<Me | null>(null);
export const OperatorProvider = OperatorContext.Provider;

/** The signed-in operator, and what their role may do. */
export function useOperator() {
  const me = use(OperatorContext);
  if (me === null) throw new Error('useOperator is for screens inside of OperatorProvider');
  return {
    ...me,
    may: (permission: string): boolean => me.permissions.some((one) => one === permission),
    /** Whom to ask, for an operator without this permission. */
    whyNot: (permission: string): string | undefined => {
      const roles = me.denied.find((one) => one.permission === permission)?.roles;
      return roles && kit.whoCan(roles.join(', '));
    },
  };
}
