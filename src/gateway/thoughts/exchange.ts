import type { PreparedAttempt } from '../types.ts'
import type { Exchange } from './thoughts.ts'

/** What the thoughts of an attempt's answer are kept with. */
export const exchangeOf = ({ call, candidate, request, prepared }: PreparedAttempt): Exchange => ({
  ...{ told: call.format, candidate, asked: request, recalled: prepared.recalled },
})
