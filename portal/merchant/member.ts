import { createPerson } from '../ui/person.ts';
import { ROLES } from '../ui/role-text.ts';
import type { Me } from './routes.ts';

/** A person who belongs to a merchant. */
export type Member = Me & { merchant: NonNullable<Me['merchant']> };

/** The signed-in person, their merchant, and what their role may do. */
export const [MemberProvider, useMember] = createPerson<Member>((role) => ROLES[role]);
