/** Tells a person on a terminal what is being done. */
export type Progress = {
  print: (line: string) => void;
  /** Prints one line with the time it took once the work is done; the work may describe what came of it. */
  step: <T>(name: string, work: (describe: (result: string) => void) => Promise<T>) => Promise<T>;
};

export function createProgress(write: (text: string) => void): Progress {
  const line = (name: string, startedAt: number, result: string): void => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(5);
    write(`${name.padEnd(14)} ${seconds} s  ${result}`.trimEnd() + '\n');
  };
  return {
    print: (text) => write(`${text}\n`),
    step: async (name, work) => {
      const startedAt = performance.now();
      let result = '';
      try {
        const value = await work((text) => (result = text));
        line(name, startedAt, result);
        return value;
      } catch (error) {
        line(name, startedAt, 'failed');
        throw error;
      }
    },
  };
}
