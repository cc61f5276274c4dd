/** The current time, as an argument: tests and seeding pass their own. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
