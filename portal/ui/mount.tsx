import './aria-texts.ts';
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { StrictMode, type ReactNode } from 'react';
import { I18nProvider } from 'react-aria-components';
import { createRoot } from 'react-dom/client';

import { Failed } from './feedback.tsx';
import { setCalendar, setClock, type Calendar, type Clock } from './format.ts';
import { adoptLanguage, language } from './language.ts';
import { createQueryClient, ME } from './use-calls.ts';

type Signed = { user: { language: string; calendar: Calendar; clock: Clock } };

/**
 * Shows the pages of the person who is read first, in their language, calendar and clock, or why that failed. Their role is
 * read again after a change, and where something may not be read any more.
 */
export function mount<Me extends Signed>(readMe: () => Promise<{ data: Me }>, showPages: (me: Me) => ReactNode): void {
  const root = createRoot(document.querySelector('#app') as HTMLElement);
  const queryClient = createQueryClient(() => void queryClient.invalidateQueries({ queryKey: ME }));
  function Pages() {
    const { data } = useQuery({ queryKey: ME, queryFn: readMe, staleTime: Infinity });
    return data && showPages(data.data);
  }
  const show = (children: ReactNode): void =>
    root.render(
      <StrictMode>
        <I18nProvider locale={language}>
          <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
        </I18nProvider>
      </StrictMode>,
    );
  readMe().then(
    (read) => {
      const { data: me } = read;
      adoptLanguage(me.user.language);
      setCalendar(me.user.calendar);
      setClock(me.user.clock);
      queryClient.setQueryData(ME, read);
      show(<Pages />);
    },
    (error: unknown) =>
      show(
        <main className="mx-auto max-w-xl p-6">
          <Failed error={error} retry={() => location.reload()} />
        </main>,
      ),
  );
}
