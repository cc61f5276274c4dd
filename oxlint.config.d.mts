/** The rooms of `src`, from low to high. */
export const ORDER: readonly (readonly string[])[];
