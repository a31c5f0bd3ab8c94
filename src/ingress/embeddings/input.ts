import type { MediaPart, MediaSource, OpaquePart, TextPart } from '../../canonical/content.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { sniffed } from '../../canonical/media/sniff.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import { rest, WrongType } from '../fields.ts'

const FORMAT = 'embeddings'

/** The inputs to embed, a message each. */
export interface Input {
  readonly messages: readonly Message[]
  /** How a single input stood in no list. */
  readonly as?: 'string' | 'tokens' | 'single'
}

/** A string, the tokens of one, an object that holds a text or an image, or a list of such. */
export function readInput(input: Json): Input {
  if (typeof input === 'string') return { messages: [ofText(input)], as: 'string' }
  if (isObject(input)) return { messages: [ofObject(input)], as: 'single' }
  if (!Array.isArray(input) || input.length === 0) throw WrongType.instance
  if (typeof input[0] === 'number') return { messages: [ofTokens(input)], as: 'tokens' }
  return { messages: input.map(ofItem) }
}

function ofItem(item: Json): Message {
  if (typeof item === 'string') return ofText(item)
  if (Array.isArray(item)) return ofTokens(item)
  if (isObject(item)) return ofObject(item)
  throw WrongType.instance
}

const ofText = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

/** Tokens have a meaning in one model's vocabulary alone: no other format can express them. */
function ofTokens(tokens: readonly Json[]): Message {
  if (tokens.length === 0 || !tokens.every(token => typeof token === 'number')) throw WrongType.instance
  return { role: 'user', content: [own({ tokens })] }
}

const own = (value: JsonObject): OpaquePart => ({ type: 'opaque', format: FORMAT, value, reference: true })

const KINDS = ['text', 'image', 'pdf'] as const
const TAKEN: ReadonlySet<string> = new Set(KINDS)

/** Jina's shape: one value under the name of its kind. An object with several or none of them stays as it is. */
function ofObject(item: JsonObject): Message {
  const [kind, ...others] = KINDS.filter(name => item[name] != null)
  const content = kind === undefined ? undefined : item[kind]
  if (kind === undefined || others.length > 0 || typeof content !== 'string')
    return { role: 'user', content: [own(item)], spelling: { [FORMAT]: { as: 'object' } } }
  if (kind === 'text') {
    const part: TextPart = { type: 'text', text: content }
    return { role: 'user', content: [part], ...rest(FORMAT, item, TAKEN, { as: 'object' }) }
  }
  const bare = !/^[a-z][a-z0-9+.-]*:/i.test(content)
  const source = bare ? ofBase64(content, kind) : sourceOfUrl(content)
  const part: MediaPart = { type: 'media', kind: kind === 'pdf' ? 'file' : 'image', source }
  return { role: 'user', content: [part], ...rest(FORMAT, item, TAKEN, { as: 'object', ...(bare ? { bare } : {}) }) }
}

const DEFAULT_TYPES = { image: 'image/jpeg', pdf: 'application/pdf' } as const

/** Base64 without a declared media type. */
const ofBase64 = (data: string, kind: keyof typeof DEFAULT_TYPES): MediaSource => ({
  type: 'base64',
  mediaType: sniffed(Buffer.from(data.slice(0, 64), 'base64')) ?? DEFAULT_TYPES[kind],
  data,
})
