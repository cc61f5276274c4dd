import { tsImport } from 'tsx/esm/api';

/** Jest loads this outside its own modules, where TypeScript needs tsx. The servers live in this process's children. */
export default async function globalSetup() {
  const { startTestStack } = await tsImport('./stack.ts', import.meta.url);
  globalThis.meskotTestStack = await startTestStack();
}
