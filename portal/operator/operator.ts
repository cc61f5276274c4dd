import { createPerson } from '../ui/person.ts';
import { ROLES } from '../ui/role-text.ts';
import type { Me } from './routes.ts';

/** The signed-in operator, and what their role may do. */
export const [OperatorProvider, useOperator] = createPerson<Me>((role) => ROLES[role]);
