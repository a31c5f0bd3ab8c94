export const HOUR = 3_600_000
export const MIB = 1024 * 1024
export const DAY = 24 * HOUR
