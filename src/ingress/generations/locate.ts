import type { Path } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Locate, locator } from '../locate.ts'

const PROMPT: Path = ['prompt']
const PICTURE: Path = ['image']

/** Where in a body its prompt and its pictures stand. */
export const locate = ({ messages }: CanonicalRequest): Locate =>
  locator(
    'prompt',
    messages.map(({ content }) => ({
      at: PROMPT,
      parts: content.map(({ type }) => (type === 'text' ? PROMPT : PICTURE)),
    })),
    PROMPT,
  )
