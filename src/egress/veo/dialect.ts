/** The format has no dialect flags. */
export const FLAGS = [] as const
