import { live } from './live/index.ts'
import { realtime, realtimeBeta } from './realtime/index.ts'
import type { SessionFormat } from './session-format.ts'

/** Session formats by name. */
export const SESSION_FORMATS: { readonly [name: string]: SessionFormat } = {
  [realtime.name]: realtime,
  [realtimeBeta.name]: realtimeBeta,
  [live.name]: live,
}
