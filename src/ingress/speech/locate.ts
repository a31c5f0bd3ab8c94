import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Locate, locator, type Place } from '../locate.ts'

const INPUT: Place = { at: ['input'], parts: [['input']] }
const INSTRUCTIONS: Place = { at: ['instructions'], parts: [['instructions']] }

/** The places of the input text and of its instructions in a body. */
export const locate = ({ messages }: CanonicalRequest): Locate =>
  locator(
    'input',
    messages.map(({ role }) => (role === 'system' ? INSTRUCTIONS : INPUT)),
    INPUT.at,
  )
