import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Locate, locator, type Place } from '../locate.ts'

const RECORDING: Place = { at: ['file'], parts: [['file']] }
const HINT: Place = { at: ['prompt'], parts: [['prompt']] }

/** The places of the recording and of its prompt in a form. */
export const locate = ({ messages }: CanonicalRequest): Locate =>
  locator(
    'file',
    messages.map(({ role }) => (role === 'system' ? HINT : RECORDING)),
    RECORDING.at,
  )
