import type { Path } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Locate, locator } from '../locate.ts'

const FORMAT = 'embeddings'
const INPUT: Path = ['input']

/** The places of the inputs in a body: in a list, or a single one in its place. */
export function locate({ messages, spelling }: CanonicalRequest): Locate {
  const alone = spelling?.[FORMAT]?.['input'] !== undefined
  const places = messages.map((_, index): Path => (alone ? INPUT : [...INPUT, index]))
  return locator(
    'input',
    places.map(at => ({ at, parts: [at] })),
    INPUT,
  )
}
