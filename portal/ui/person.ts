import { createContext, use, type Provider } from 'react';

import { anyOf } from './format.ts';
import { text } from './text.ts';

type Rights = {
  permissions: readonly string[];
  /** What the person may not do, and the roles that may. */
  denied: readonly { permission: string; roles: readonly string[] }[];
};
type RoleOf<Person extends Rights> = Person['denied'][number]['roles'][number];
type WithChecks<Person> = Person & {
  may: (permission: string) => boolean;
  /** Whom to ask, for a person without this permission. */
  whyNot: (permission: string) => string | undefined;
};

/** The provider of the signed-in person, and the hook that returns them. `roleText`: a role in words. */
export function createPerson<Person extends Rights>(
  roleText: (role: RoleOf<Person>) => string,
): [Provider<Person | null>, () => WithChecks<Person>] {
  const Context = createContext<Person | null>(null);
  const usePerson = (): WithChecks<Person> => {
    const person = use(Context);
    if (person === null) throw new Error('There is no signed-in person outside of the provider.');
    return {
      ...person,
      may: (permission) => person.permissions.includes(permission),
      whyNot: (permission) => {
        const roles = person.denied.find((one) => one.permission === permission)?.roles;
        return roles && text.whoCan(anyOf(roles.map(roleText)));
      },
    };
  };
  return [Context.Provider, usePerson];
}
