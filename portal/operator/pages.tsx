import { RouterProvider } from '@tanstack/react-router';

import { mount } from '../ui/mount.tsx';
import { me as readFirst } from './me.ts';
import { OperatorProvider } from './operator.ts';
import { router } from './router.tsx';
import { call } from './routes.ts';

mount(
  () => call('GET /api/ops/me', {}),
  (me) => (
    <OperatorProvider value={me}>
      <RouterProvider router={router} />
    </OperatorProvider>
  ),
  { me: readFirst },
);
