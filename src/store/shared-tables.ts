/** What instances need of each other. */
export type SharedTables = {}
