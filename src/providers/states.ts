/* Without imports, so that pages can use it. */

/** What an operator has found out at the provider: the receiver has the money, or has none of it. */
export const RESOLUTIONS = ['COMPLETED', 'FAILED'] as const;
