import { RouterProvider } from '@tanstack/react-router';

import { Empty } from '../ui/feedback.tsx';
import { mount } from '../ui/mount.tsx';
import { SignOutButton } from '../ui/person-menu.tsx';
import { MemberProvider } from './member.ts';
import { router } from './router.tsx';
import { call, nameMerchant } from './routes.ts';
import { text } from './text.ts';

function WithoutMerchant() {
  return (
    <Empty title={text.noMerchant}>
      {text.askForInvitation} <SignOutButton />
    </Empty>
  );
}

mount(
  () => call('GET /api/portal/me', {}),
  ({ merchant, ...me }) => {
    if (merchant === null) return <WithoutMerchant />;
    nameMerchant(merchant.merchantId);
    return (
      <MemberProvider value={{ ...me, merchant }}>
        <RouterProvider router={router} />
      </MemberProvider>
    );
  },
);
