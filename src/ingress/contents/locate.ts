import type { Part } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import { isObject, type Json, originOf } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { workOf } from '../../canonical/work.ts'
import { type Locate, locateTurns } from '../locate.ts'
import { FORMAT, open, WRAPPER } from './fields.ts'

const SYSTEM = 'systemInstruction'

/** The places of the turns in a body of contents. */
export function locate(request: CanonicalRequest): Locate {
  if (workOf(request) === 'embedding') return path => path
  const found = locateTurns(request.messages, {
    format: FORMAT,
    turns: 'contents',
    parts: 'parts',
    preamble: message =>
      message.role === 'system' ? [[SYSTEM], isText(message) ? [SYSTEM] : [SYSTEM, 'parts']] : undefined,
    bare: message => isText(message) || isObject((wireOf(message) as JsonParts | undefined)?.parts),
    hasPlace: part => !signs(part),
  })
  return isObject(contentsOf(request)) ? path => unlisted(found(path)) : found
}

type JsonParts = { readonly parts?: Json }

const wireOf = (message: Message): Json | undefined => originOf<Json>(message, FORMAT)?.wire

const isText = (message: Message): boolean => typeof wireOf(message) === 'string'

function contentsOf(request: CanonicalRequest): Json | undefined {
  const body = originOf<WireRequest>(request, FORMAT)?.wire.body ?? {}
  const inner = open(body, WRAPPER)['generateContentRequest']
  return isObject(inner) ? inner['contents'] : body['contents']
}

/** A content that is not in a list has no index. */
const unlisted = (path: Path): Path => (path[0] === 'contents' && path[1] === 0 ? ['contents', ...path.slice(2)] : path)

/** A signature stands on the part it signs, unless it is alone. */
const signs = (part: Part): boolean =>
  part.type === 'reasoning' &&
  part.text === '' &&
  part.signature !== undefined &&
  part.spelling?.[FORMAT]?.['as'] === undefined
