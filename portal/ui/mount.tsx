import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, type ReactNode } from 'react';
import { I18nProvider } from 'react-aria-components';
import { createRoot } from 'react-dom/client';

import { Failed } from './feedback.tsx';
import { language } from './language.ts';
import { createQueryClient } from './use-calls.ts';

/** Shows the pages of the person who is read first, or why that failed. */
export function mount<Me>(readMe: () => Promise<Me>, showPages: (me: Me) => ReactNode): void {
  const root = createRoot(document.querySelector('#app') as HTMLElement);
  const queryClient = createQueryClient();
  const show = (children: ReactNode): void =>
    root.render(
      <StrictMode>
        <I18nProvider locale={language}>
          <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
        </I18nProvider>
      </StrictMode>,
    );
  readMe().then(
    (me) => show(showPages(me)),
    (error: unknown) =>
      show(
        <main className="mx-auto max-w-xl p-6">
          <Failed error={error} retry={() => location.reload()} />
        </main>,
      ),
  );
}
