import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Locate, locator, type Place } from '../locate.ts'

const RECORDING: Place = { at: ['file'], parts: [['file']] }
const HINT: Place = { at: ['prompt'], parts: [['prompt']] }

/** Where in a form the recording stands, and the hint to it. */
export const locate = ({ messages }: CanonicalRequest): Locate =>
  locator(
    'file',
    messages.map(({ role }) => (role === 'system' ? HINT : RECORDING)),
    RECORDING.at,
  )
