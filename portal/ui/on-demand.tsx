import { useEffect, useState, type ComponentType, type ReactNode } from 'react';

/**
 * A component of a file that is loaded when the component is first shown, or before by `load`. Not by `lazy`: React shows
 * nothing that was suspended within 300 ms, also where its file is there already.
 */
export function onDemand<Props extends object>(
  read: () => Promise<ComponentType<Props>>,
  fallback: ReactNode = null,
): { Component: ComponentType<Props>; load: () => Promise<void> } {
  let loaded: ComponentType<Props> | null = null;
  const load = async (): Promise<void> => {
    loaded ??= await read();
  };
  function Component(props: Props) {
    const [Shown, setShown] = useState(() => loaded);
    useEffect(() => {
      load().then(
        () => setShown(() => loaded),
        // Where a component that was not found is shown, as any error of it would be.
        (error: unknown) =>
          setShown(() => {
            throw error;
          }),
      );
    }, []);
    return Shown ? <Shown {...props} /> : fallback;
  }
  return { Component, load };
}
