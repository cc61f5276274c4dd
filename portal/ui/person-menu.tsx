import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { call } from './account/routes.ts';
import { Button } from './button.tsx';
import { Facts } from './facts.tsx';
import { failureText } from './feedback.tsx';
import { text } from './frame-text.ts';
import { LanguageChoice } from './language-choice.tsx';
import { Popover } from './popover.tsx';
import { leaveBy } from './session.ts';

type Props = { user: { name: string; email: string }; role: string; children: ReactNode };

/** The signed-in person, and the way out. */
export function PersonMenu({ user, role, children }: Props) {
  return (
    <Popover button={null} icon="person" kind="plain" label={text.person} title={text.person}>
      {() => (
        <div className="flex w-64 flex-col gap-3">
          <div>
            <p className="font-semibold">{user.name}</p>
            <p className="text-quiet">{user.email}</p>
          </div>
          <Facts rows={{ [text.role]: role }} />
          {children}
          <div className="sm:hidden">
            <LanguageChoice />
          </div>
          <SignOutButton />
        </div>
      )}
    </Popover>
  );
}

/** Ends the session, or all of the person's, and leaves for the sign-in page without reading anything again. */
export function SignOutButton({ isEverywhere = false }: { isEverywhere?: boolean }) {
  const endpoint = isEverywhere ? 'POST /api/portal/sessions/end-all' : 'POST /api/portal/sign-out';
  const change = useMutation({
    mutationFn: () => leaveBy(() => call(endpoint, { body: {} })),
  });
  return (
    <>
      <Button onClick={() => change.mutate()} isBusy={change.isPending}>
        {isEverywhere ? text.signOutEverywhere : text.signOut}
      </Button>
      {change.error !== null && <p role="alert">{failureText(change.error)}</p>}
    </>
  );
}
