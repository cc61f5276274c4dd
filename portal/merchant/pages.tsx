import { RouterProvider } from '@tanstack/react-router';

import { Empty } from '../ui/feedback.tsx';
import { mount } from '../ui/mount.tsx';
import { SignOutButton } from '../ui/person-menu.tsx';
import { nameMerchant } from './headers.ts';
import { home, me as readFirst } from './home.ts';
import { MemberProvider } from './member.ts';
import { router } from './router.tsx';
import { call } from './routes.ts';
import { text } from './text.ts';

function WithoutMerchant() {
  return (
    <Empty title={text.noMerchant}>
      {text.askForInvitation} <SignOutButton />
    </Empty>
  );
}

// The files of the screen come while the person is read, who is needed to show it.
void router.load();

/** The merchant that the page shows. */
let shownId: string | undefined;

mount(
  () => call('GET /api/portal/me', {}),
  ({ merchant, ...me }) => {
    if (merchant === null) return <WithoutMerchant />;
    // Another tab has switched: nothing of the former merchant stays in sight.
    if (shownId !== undefined && shownId !== merchant.merchantId) {
      location.reload();
      return null;
    }
    shownId = merchant.merchantId;
    nameMerchant(shownId);
    return (
      <MemberProvider value={{ ...me, merchant }}>
        <RouterProvider router={router} />
      </MemberProvider>
    );
  },
  { me: readFirst, listed: home },
);
