import { RouterProvider } from '@tanstack/react-router';

import { base } from '../ui/environment.ts';
import { mount } from '../ui/mount.tsx';
import { OperatorProvider } from './operator.ts';
import { router } from './router.tsx';
import { call } from './routes.ts';

/** Addresses without an environment, as in links of workflows: what is of the other one has a link to it. */
if (!/^[/](?:test|live)(?:[/]|$)/.test(location.pathname)) location.replace(base + location.pathname + location.search);

mount(
  () => call('GET /api/ops/me', {}),
  (me) => (
    <OperatorProvider value={me}>
      <RouterProvider router={router} />
    </OperatorProvider>
  ),
);
