import { Profile } from '../ui/account/profile.tsx';
import { Security } from '../ui/account/security.tsx';
import { Page } from '../ui/page.tsx';
import { useOperator } from './operator.ts';
import { text } from './text.ts';

/** The security of the person's own account. */
export function SecurityPage() {
  return (
    <Page title={text.security}>
      <Security />
    </Page>
  );
}

/** The person's name, and the language and calendar of the pages. */
export function ProfilePage() {
  return (
    <Page title={text.profile}>
      <Profile user={useOperator().user} />
    </Page>
  );
}
