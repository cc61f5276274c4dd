import {
  createRootRoute,
  createRoute,
  lazyRouteComponent,
  Link,
  redirect,
  type ErrorComponentProps,
  type RouteComponent,
} from '@tanstack/react-router';

import { Button, buttonStyle } from './button.tsx';
import { base } from './environment.ts';
import { Empty } from './feedback.tsx';
import { text } from './frame-text.ts';
import { useOnline } from './online.ts';
import { parseSearch, stringifySearch, type Search } from './search-params.ts';
import { text as kit } from './text.ts';

/** Of the router of each entry. */
export const ROUTER_OPTIONS = {
  basepath: base,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: false,
} as const;

const UNREACHABLE = 'unreachable';

/**
 * Why a screen could not be loaded. A newer version of the pages has other files: the router reloads then. Without a
 * connection that would put the browser's own error in the place of the pages.
 */
async function explain(error: unknown): Promise<never> {
  const isReachable = await fetch(location.href, { method: 'HEAD' }).then(
    () => true,
    () => false,
  );
  throw isReachable ? error : new Error(UNREACHABLE, { cause: error });
}

type Frame = {
  shell: RouteComponent;
  /** The screen that the bare address leads to, and the words of a link to it. */
  home: string;
  homeLabel: string;
};

/** The root of all screens, the bare address, and what makes a screen. */
export function createScreens({ shell, home, homeLabel }: Frame) {
  const root = createRootRoute({
    component: shell,
    validateSearch: (search: Record<string, unknown>) => search as Search,
    errorComponent: () => (
      <Empty title={text.broken}>
        <Button onClick={() => location.reload()}>{text.reload}</Button>
      </Empty>
    ),
    notFoundComponent: () => (
      <Empty title={text.notFound}>
        <Link to={home} className={buttonStyle('primary')}>
          {homeLabel}
        </Link>
      </Empty>
    ),
  });
  const at = { getParentRoute: () => root };
  const index = createRoute({
    ...at,
    path: '/',
    beforeLoad: (): never => {
      throw redirect({ to: home, replace: true });
    },
  });
  /** A screen, which is loaded when it is opened. */
  const screen = <const Path extends string>(path: Path, load: () => Promise<RouteComponent>) => {
    const component = lazyRouteComponent(async () => ({ default: await load().catch(explain) }));
    function ScreenFailed({ error, reset }: ErrorComponentProps) {
      const isUnreachable = error instanceof Error && error.message === UNREACHABLE;
      const retry = (): void => void (isUnreachable ? component.preload?.()?.then(reset) : location.reload());
      useOnline(isUnreachable ? retry : undefined);
      return (
        <Empty title={isUnreachable ? kit.noConnection : text.broken}>
          <Button onClick={retry}>{isUnreachable ? kit.retry : text.reload}</Button>
        </Empty>
      );
    }
    return createRoute({ ...at, path, component, errorComponent: ScreenFailed });
  };
  return { root, at, index, screen };
}
