import type { Request } from '../api/types.ts'
import type { Tone } from '../ui/badge.tsx'

const TONES: readonly (readonly [least: number, tone: Tone])[] = [
  [500, 'bad'],
  [400, 'warn'],
  [200, 'good'],
]

/** The caller left before its answer was whole. */
const CANCELLED = 499

/** The colour of a request's status: faults of the upstream or of the gateway are worse than those of the caller. */
export const toneOf = ({ status, error }: Pick<Request, 'status' | 'error'>): Tone =>
  status === CANCELLED
    ? 'neutral'
    : error !== undefined && status < 400
      ? 'bad'
      : (TONES.find(([least]) => status >= least)?.[1] ?? 'neutral')
