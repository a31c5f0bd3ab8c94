/** What requests used. */
export type UsageTables = {}
