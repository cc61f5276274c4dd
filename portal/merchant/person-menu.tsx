import { Button } from '../ui/button.tsx';
import { Facts } from '../ui/facts.tsx';
import { failureText } from '../ui/feedback.tsx';
import { Popover } from '../ui/popover.tsx';
import { LanguageChoice } from './language-choice.tsx';
import { useMember } from './member.ts';
import { useChange } from './routes.ts';
import { text } from './text.ts';

/** The signed-in person, and the way out. */
export function PersonMenu() {
  const { user, role } = useMember();
  return (
    <Popover button={null} icon="person" kind="plain" label={text.person} title={text.person}>
      {() => (
        <div className="flex w-64 flex-col gap-3">
          <div>
            <p className="font-semibold">{user.name}</p>
            <p className="text-quiet">{user.email}</p>
          </div>
          <Facts rows={{ [text.role]: role }} />
          <div className="sm:hidden">
            <LanguageChoice />
          </div>
          <SignOutButton />
        </div>
      )}
    </Popover>
  );
}

/** Ends the session and leaves for the sign-in page. */
export function SignOutButton() {
  const signOut = useChange('POST /api/portal/sign-out');
  const onSuccess = (): void => {
    sessionStorage.clear();
    location.assign('/sign-in');
  };
  const leave = (): void => signOut.mutate({ body: {} }, { onSuccess });
  return (
    <>
      <Button onClick={leave} isBusy={signOut.isPending}>
        {text.signOut}
      </Button>
      {signOut.error && <p role="alert">{failureText(signOut.error)}</p>}
    </>
  );
}
