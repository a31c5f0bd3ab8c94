import type { Request } from '../api/types.ts'
import type { Tone } from '../ui/badge.tsx'

const TONES: readonly (readonly [least: number, tone: Tone])[] = [
  [500, 'bad'],
  [400, 'warn'],
  [200, 'good'],
]

/** Status of a request whose caller disconnected before the response was complete. */
const CANCELLED = 499

/** Colour of a request's status: errors of the upstream or the gateway are red, those of the caller yellow. */
export const toneOf = ({ status, error }: Pick<Request, 'status' | 'error'>): Tone =>
  status === CANCELLED
    ? 'neutral'
    : error !== undefined && status < 400
      ? 'bad'
      : (TONES.find(([least]) => status >= least)?.[1] ?? 'neutral')
