import '../ui/aria-texts.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode, type ReactNode } from 'react';
import { I18nProvider } from 'react-aria-components';
import { createRoot } from 'react-dom/client';

import { Empty, Failed } from '../ui/feedback.tsx';
import { setCalendar } from '../ui/format.ts';
import { adoptLanguage, language } from '../ui/language.ts';
import { SignOutButton } from '../ui/person-menu.tsx';
import { createQueryClient } from '../ui/use-calls.ts';
import { MemberProvider } from './member.ts';
import { router } from './router.tsx';
import { call, useChange, type Me } from './routes.ts';
import { text } from './text.ts';

const root = createRoot(document.querySelector('#app') as HTMLElement);
const queryClient = createQueryClient();

function show(children: ReactNode): void {
  root.render(
    <StrictMode>
      <I18nProvider locale={language}>
        <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
      </I18nProvider>
    </StrictMode>,
  );
}

function showScreens({ data: me }: { data: Me }): void {
  adoptLanguage(me.user.language);
  setCalendar(me.user.calendar);
  const { merchant } = me;
  if (merchant === null) {
    show(
      <Empty title={text.noMerchant}>
        {text.askForInvitation} <LeaveButton />
      </Empty>,
    );
    return;
  }
  show(
    <MemberProvider value={{ ...me, merchant }}>
      <RouterProvider router={router} />
    </MemberProvider>,
  );
}

function LeaveButton() {
  return <SignOutButton change={useChange('POST /api/portal/sign-out')} />;
}

call('GET /api/portal/me', {}).then(showScreens, (error: unknown) =>
  show(
    <main className="mx-auto max-w-xl p-6">
      <Failed error={error} retry={() => location.reload()} />
    </main>,
  ),
);
