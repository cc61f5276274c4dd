/** The code of the error that this work ends with; 'done' without one. */
export const codeOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  );
