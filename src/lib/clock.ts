/** What time it is, as an argument: tests and seeding bring their own. */
export type Clock = () => Date;

/** The machine's clock. */
export const systemClock: Clock = () => new Date();
