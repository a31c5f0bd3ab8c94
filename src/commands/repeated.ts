/** Collects the values of a repeatable option. */
export const repeated = (value: string, before: readonly string[]): readonly string[] => [...before, value]
