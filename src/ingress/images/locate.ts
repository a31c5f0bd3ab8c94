import type { Part } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Locate, locator } from '../locate.ts'
import { FORMAT } from './input-images.ts'

const PROMPT: Path = ['prompt']

/** The places of a body's prompt and images, these by their index among those of their field. */
export function locate({ messages, spelling }: CanonicalRequest): Locate {
  const content = messages[0]?.content ?? []
  const inForm = spelling?.[FORMAT]?.['form'] === true
  const counts = new Map<string, number>()
  for (const field of content.map(fieldOf)) counts.set(field, (counts.get(field) ?? 0) + 1)
  const seen = new Map<string, number>()
  const parts = content.map((part): Path => {
    const field = fieldOf(part)
    const place = seen.get(field) ?? 0
    seen.set(field, place + 1)
    const listed = inForm ? counts.get(field)! > 1 : isListed(part)
    return listed ? [field, place] : [field]
  })
  return locator('prompt', [{ at: PROMPT, parts }], PROMPT)
}

const fieldOf = (part: Part): string => String(part.spelling?.[FORMAT]?.['in'] ?? PROMPT[0])

const isListed = ({ spelling }: Part): boolean =>
  spelling?.[FORMAT]?.['in'] !== undefined && spelling[FORMAT]!['alone'] !== true
