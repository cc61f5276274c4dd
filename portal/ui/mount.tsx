import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { StrictMode, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

import { Failed } from './feedback.tsx';
import { setCalendar, setClock, type Calendar, type Clock } from './format.ts';
import { adoptLanguage } from './language.ts';
import { keepOnlyOf } from './session.ts';
import { createQueryClient, ME } from './use-calls.ts';

type Signed = { user: { email: string; language: string; calendar: Calendar; clock: Clock } };

/** What the page has begun to read before: the person, and what a screen will read under this key. */
type Begun<Me> = {
  me?: Promise<{ data: Me }>;
  listed?: { queryKey: unknown[]; queryFn: () => Promise<unknown> } | null;
};

/**
 * Shows the pages of the person who is read first, in their language, calendar and clock, or why that failed. Their role is
 * read again after a change, and where something may not be read any more.
 */
export function mount<Me extends Signed>(
  readMe: () => Promise<{ data: Me }>,
  showPages: (me: Me) => ReactNode,
  { me = readMe(), listed = null }: Begun<Me> = {},
): void {
  const root = createRoot(document.querySelector('#app') as HTMLElement);
  const queryClient = createQueryClient(() => void queryClient.invalidateQueries({ queryKey: ME }));
  /** The person whose pages these are. */
  let email: string;
  function Pages() {
    const { data } = useQuery({ queryKey: ME, queryFn: readMe, staleTime: Infinity });
    // Somebody else has signed in: nothing of the former person stays in sight, or is sent for them.
    if (data && data.data.user.email !== email) {
      location.reload();
      return null;
    }
    return data && showPages(data.data);
  }
  const show = (children: ReactNode): void =>
    root.render(
      <StrictMode>
        <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
      </StrictMode>,
    );
  if (listed) void queryClient.prefetchQuery(listed);
  me.then(
    (read) => {
      const { user } = read.data;
      email = user.email;
      keepOnlyOf(email);
      adoptLanguage(user.language);
      setCalendar(user.calendar);
      setClock(user.clock);
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
