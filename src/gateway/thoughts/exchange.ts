import type { Sent } from '../send.ts'
import type { Exchange } from './thoughts.ts'

/** What the thoughts of an answer are kept with. */
export const exchangeOf = ({ attempt: { call, candidate, request }, prepared }: Sent): Exchange => ({
  format: call.format,
  candidate,
  request,
  recalled: prepared.recalled,
})
