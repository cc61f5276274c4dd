import '../ui/aria-texts.ts';
import { RouterProvider } from '@tanstack/react-router';

import { base } from '../ui/environment.ts';
import { setCalendar, setClock } from '../ui/format.ts';
import { adoptLanguage } from '../ui/language.ts';
import { mount } from '../ui/mount.tsx';
import { OperatorProvider } from './operator.ts';
import { router } from './router.tsx';
import { readMe, type Me } from './routes.ts';

/** Addresses without an environment, as in links of workflows: what is of the other one has a link to it. */
if (!/^[/](?:test|live)(?:[/]|$)/.test(location.pathname)) location.replace(base + location.pathname + location.search);

mount(readMe, (me: Me) => {
  adoptLanguage(me.user.language);
  setCalendar(me.user.calendar);
  setClock(me.user.clock);
  return (
    <OperatorProvider value={me}>
      <RouterProvider router={router} />
    </OperatorProvider>
  );
});
