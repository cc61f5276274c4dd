import '../ui/aria-texts.ts';
import { RouterProvider } from '@tanstack/react-router';

import { Empty } from '../ui/feedback.tsx';
import { setCalendar, setClock } from '../ui/format.ts';
import { adoptLanguage } from '../ui/language.ts';
import { mount } from '../ui/mount.tsx';
import { SignOutButton } from '../ui/person-menu.tsx';
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

mount(
  () => call('GET /api/portal/me', {}),
  ({ data: me }) => {
    adoptLanguage(me.user.language);
    setCalendar(me.user.calendar);
    setClock(me.user.clock);
    const { merchant } = me;
    if (merchant === null) return <WithoutMerchant />;
    return (
      <MemberProvider value={{ ...me, merchant }}>
        <RouterProvider router={router} />
      </MemberProvider>
    );
  },
);
