/** Keys, groups and what else administrators change. */
export type AccessTables = {}
