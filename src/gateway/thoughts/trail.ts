import { createHash } from 'node:crypto'
import type { MediaPart, Part } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Message, Role } from '../../canonical/request.ts'

/**
 * A digest of a conversation so far: equal conversations have equal digests. It grows with the conversation,
 * and each of its parts is read once.
 */
export class Trail {
  private readonly hash = createHash('sha256')

  /** Lengths stand before texts, so that no two rows of texts look alike. */
  add(kind: string, text: string): void {
    this.hash.update(`${kind} ${text.length}\n`)
    this.hash.update(text)
  }

  get digest(): string {
    return this.hash.copy().digest('base64url')
  }
}

/**
 * Everything an upstream gets before a turn, as far as it makes a difference there: a proof may be good only where
 * none of it changed ("Preserved thinking", platform.claude.com, September 2026). Of thoughts only proofs count, as
 * nothing else of them is handed back.
 */
export class WholeTrail extends Trail {
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
        for (const piece of part.content) this.part(piece)
        return
      case 'media':
        return this.add('media', mediaText(part))
      default:
        this.add('other', JSON.stringify(part.type === 'opaque' ? part.value : part.type))
    }
  }
}

const MARKS = /[^\p{L}\p{N}]+/gu

/**
 * What distinguishes conversations, and stays as it is where clients shorten results, change instructions or
 * cut texts differently: texts of users, and calls.
 */
export class GistTrail extends Trail {
  private pending = ''

  part(role: Role, part: Part): void {
    if (role === 'user') this.user(part)
    else if (role === 'assistant' && part.type === 'tool-call') this.call(part.name, part.arguments)
  }

  /** Of a name its words count: clients that rename tools put other marks between them (trap 111). */
  call(name: string, args: string): void {
    this.flush()
    this.add('call', `${name.replace(MARKS, '_')}\n${inOrder(args)}`)
  }

  override get digest(): string {
    this.flush()
    return super.digest
  }

  /** Texts of neighbouring turns are one, however they were cut. */
  private user(part: Part): void {
    if (part.type === 'text') this.pending += part.text
    else if (part.type === 'media') this.pending += `\n${mediaText(part)}\n`
  }

  private flush(): void {
    if (this.pending === '') return
    this.add('user', this.pending)
    this.pending = ''
  }
}

/** Arguments in one order of fields: clients that keep them as objects may write them in another. */
function inOrder(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json === '' ? '{}' : json), sorted)
  } catch {
    return json
  }
}

const sorted = (_: string, value: Json): Json =>
  isObject(value)
    ? (Object.fromEntries(
        Object.keys(value)
          .sort()
          .map(key => [key, value[key]!]),
      ) as JsonObject)
    : value

/** How many of the last characters of a file distinguish it from another of the same length. */
const TAIL = 64

function mediaText({ kind, source }: MediaPart): string {
  if (source.type === 'base64') return `${kind} ${source.data.length} ${source.data.slice(-TAIL)}`
  if (source.type === 'url') return `${kind} ${source.url}`
  if (source.type === 'file-id') return `${kind} ${source.id}`
  return source.type === 'text' ? `${kind} ${source.text}` : kind
}
