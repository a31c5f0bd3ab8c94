import { createHash } from 'node:crypto'
import type { MediaPart, Part } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Message, Role } from '../../canonical/request.ts'

/**
 * A digest of a conversation so far. Equal conversations have equal digests. Each part is read only once, when it is
 * added.
 */
export class ConversationDigest {
  private readonly hash = createHash('sha256')

  /** Hashes the length before the text, so that different sequences of texts have different digests. */
  add(kind: string, text: string): void {
    this.hash.update(`${kind} ${text.length}\n`)
    this.hash.update(text)
  }

  get digest(): string {
    return this.hash.copy().digest('base64url')
  }
}

/**
 * Digests everything that an upstream received before a turn, as far as it affects signatures. Some signatures are
 * valid only if none of it changed ("Preserved thinking", platform.claude.com, September 2026). Hashes only the
 * signatures of reasoning, because nothing else is returned.
 */
export class FullDigest extends ConversationDigest {
  constructor({ tools }: CanonicalRequest) {
    super()
    this.add('tools', JSON.stringify(tools ?? []))
  }

  message({ role, content }: Message): void {
    this.add('turn', role)
    for (const part of content) this.part(part)
  }

  private part(part: Part): void {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return this.add(part.type, part.text)
      case 'reasoning':
        return part.signature === undefined ? undefined : this.add('proof', part.signature.value)
      case 'tool-call':
        return this.add('call', `${part.id}\n${part.name}\n${part.arguments}`)
      case 'tool-result':
        this.add('result', `${part.id} ${part.failed === true}`)
        for (const inner of part.content) this.part(inner)
        return
      case 'media':
        return this.add('media', textOfMedia(part))
      default:
        this.add('other', JSON.stringify(part.type === 'opaque' ? part.value : part.type))
    }
  }
}

const NON_WORD_CHARACTERS = /[^\p{L}\p{N}]+/gu

/**
 * Digests the user's text and the tool calls, which identify a conversation even if a client shortens results, edits
 * instructions or splits text differently.
 */
export class GistDigest extends ConversationDigest {
  private pending = ''

  part(role: Role, part: Part): void {
    if (role === 'user') this.user(part)
    else if (role === 'assistant' && part.type === 'tool-call') this.call(part.name, part.arguments)
  }

  /**
   * Adds a tool call. Only the words of its name are hashed, because clients that rename tools change the separators
   * (trap 111).
   */
  call(name: string, args: string): void {
    this.flush()
    this.add('call', `${name.replace(NON_WORD_CHARACTERS, '_')}\n${sortedFields(args)}`)
  }

  override get digest(): string {
    this.flush()
    return super.digest
  }

  /** Adds a user's part. Joins the text of neighbouring turns, so that it does not matter how text is split. */
  private user(part: Part): void {
    if (part.type === 'text') this.pending += part.text
    else if (part.type === 'media') this.pending += `\n${textOfMedia(part)}\n`
  }

  private flush(): void {
    if (this.pending === '') return
    this.add('user', this.pending)
    this.pending = ''
  }
}

/** Sorts the fields of a call's arguments, because clients that parse them may serialise them in another order. */
function sortedFields(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json === '' ? '{}' : json), withSortedKeys)
  } catch {
    return json
  }
}

const withSortedKeys = (_: string, value: Json): Json =>
  isObject(value)
    ? (Object.fromEntries(
        Object.keys(value)
          .sort()
          .map(key => [key, value[key]!]),
      ) as JsonObject)
    : value

/** Number of characters at the end of a file that distinguish it from other files of the same length. */
const TAIL_LENGTH = 64

function textOfMedia({ kind, source }: MediaPart): string {
  if (source.type === 'base64') return `${kind} ${source.data.length} ${source.data.slice(-TAIL_LENGTH)}`
  if (source.type === 'url') return `${kind} ${source.url}`
  if (source.type === 'file-id') return `${kind} ${source.id}`
  return source.type === 'text' ? `${kind} ${source.text}` : kind
}
