import type { Flags } from './flag.ts'
import { SHARED } from './shared-flags.ts'

/** The dialect flags of upstreams of Cohere's second version. */
export const FLAGS = {
  batch: SHARED.batch,
} as const satisfies Flags
