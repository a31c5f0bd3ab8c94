import type { Part } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { workOf } from '../../canonical/work.ts'
import { type Locate, locateTurns } from '../locate.ts'
import { FORMAT } from './fields.ts'

const SYSTEM = 'systemInstruction'

/** The places of the turns in a body of contents. */
export function locate(request: CanonicalRequest): Locate {
  if (workOf(request) === 'embedding') return path => path
  const found = locateTurns(request.messages, {
    format: FORMAT,
    turns: 'contents',
    parts: 'parts',
    preamble: ({ role, spelling }) =>
      role === 'system'
        ? [[SYSTEM], spelling?.[FORMAT]?.['as'] === 'string' ? [SYSTEM] : [SYSTEM, 'parts']]
        : undefined,
    bare: ({ spelling }) => spelling?.[FORMAT]?.['parts'] === 'single' || spelling?.[FORMAT]?.['as'] === 'string',
    hasPlace: part => !signs(part),
  })
  const single = request.spelling?.[FORMAT]?.['contents'] === 'single'
  return single ? path => unlisted(found(path)) : found
}

/** A content that is not in a list has no index. */
const unlisted = (path: Path): Path => (path[0] === 'contents' && path[1] === 0 ? ['contents', ...path.slice(2)] : path)

/** A signature stands on the part it signs, unless it is alone. */
const signs = (part: Part): boolean =>
  part.type === 'reasoning' &&
  part.text === '' &&
  part.signature !== undefined &&
  part.spelling?.[FORMAT]?.['as'] === undefined
