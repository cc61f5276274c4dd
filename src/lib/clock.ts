/** The current time, as an argument: tests and seeding pass their own. */
export type Clock = () => Date;

/** The machine's clock. */
export const systemClock: Clock = () => new Date();
