import type { Part } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Locate, locator } from '../locate.ts'

const PROMPT: Path = ['prompt']

/** Where in a body its prompt and its pictures stand. */
export const locate = ({ messages }: CanonicalRequest): Locate =>
  locator(
    'prompt',
    messages.map(({ content }) => ({ at: PROMPT, parts: content.map(placeOf) })),
    PROMPT,
  )

const placeOf = (part: Part): Path =>
  part.type !== 'media' ? PROMPT : [part.use === 'last-frame' ? 'image_tail' : 'image']
