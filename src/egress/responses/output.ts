import type { MediaPart, Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { Candidate } from '../../canonical/result.ts'
import { spelt } from '../fields.ts'
import { hasLogprobs, itemKindOf, proofOf, reportPart, reportTokens, writeContent, writeToken } from './answer.ts'
import { FORMAT } from './content.ts'
import {
  ownOrGenerated,
  reportPicture,
  writeCall,
  writeMessageItem,
  writePicture,
  writeReasoningItem,
} from './items.ts'

/**
 * A candidate's parts as the items of an answer; `base` is the base of their ids, `last` the status of the last item.
 */
export function writeItems(candidate: Candidate, base: string, last: string, path: Path, losses: Losses): JsonObject[] {
  const output = new Output(candidate, base)
  candidate.content.forEach((part, index) => {
    reportPart(part, [...path, 'content', index], losses)
    output.put(part)
    if (itemKindOf(part) === 'picture') reportPicture(part as MediaPart, [...path, 'content', index], losses)
  })
  if (candidate.logprobs !== undefined) {
    if (output.assignRest()) reportTokens(candidate.logprobs, [...path, 'logprobs'], losses)
    else losses.drop([...path, 'logprobs'], 'no-text-they-belong-to')
  }
  return output.written(last)
}

interface MessagePart {
  readonly part: Part
  tokens: readonly JsonObject[]
}

type Item = { readonly parts: MessagePart[] } | { readonly part: Part }

class Output {
  private readonly items: Item[] = []
  private readonly base: string
  private readonly tokens: readonly JsonObject[]
  /** The number of log probabilities that are assigned to texts. */
  private taken = 0

  constructor(candidate: Candidate, base: string) {
    this.base = base
    this.tokens = candidate.logprobs?.map(writeToken) ?? []
  }

  put(part: Part): void {
    const place = itemKindOf(part)
    if (place === 'nowhere') return
    if (place !== 'message') {
      this.items.push({ part })
      return
    }
    const entry: MessagePart = { part, tokens: this.take(part) }
    const last = this.items.at(-1)
    if (last !== undefined && 'parts' in last && spelt(part, FORMAT)['message'] === undefined) last.parts.push(entry)
    else this.items.push({ parts: [entry] })
  }

  /** As many log probabilities as the text is known to have; all of them where the number is unknown. */
  private take(part: Part): readonly JsonObject[] {
    if (!hasLogprobs(part)) return []
    const count = spelt(part, FORMAT)['logprobs']
    if (count === 'absent') return []
    const end = typeof count === 'number' ? this.taken + count : this.tokens.length
    const taken = this.tokens.slice(this.taken, end)
    this.taken += taken.length
    return taken
  }

  /** Assigns the remaining log probabilities to the last text; false where there is none. */
  assignRest(): boolean {
    const logged = this.items
      .flatMap(item => ('parts' in item ? item.parts : []))
      .findLast(({ part }) => hasLogprobs(part))
    if (logged === undefined) return false
    logged.tokens = [...logged.tokens, ...this.tokens.slice(this.taken)]
    return true
  }

  written(last: string): JsonObject[] {
    return this.items.map((item, index) => {
      const stamp = ownOrGenerated(this.base, index, index === this.items.length - 1 ? last : 'completed')
      if ('parts' in item) return writeMessageItem(item.parts[0]!.part, contentOf(item.parts), stamp)
      const { part } = item
      if (part.type === 'reasoning') return writeReasoningItem(part, stamp, proofOf(part))
      if (part.type === 'media') return writePicture(part, ownOrGenerated(this.base, index, 'completed'))
      return part.type === 'tool-call' ? writeCall(part, stamp) : (part as Part & { type: 'opaque' }).value
    })
  }
}

/** The content of a message item, in its own spelling. */
function contentOf(entries: readonly MessagePart[]): Json | undefined {
  const { part } = entries[0]!
  const own = spelt(part, FORMAT)['message'] as JsonObject | undefined
  if (own?.['silent'] === true) return []
  if (own?.['content'] === 'absent') return undefined
  if (own?.['content'] === 'string' && part.type === 'text') return part.text
  return entries.map(({ part, tokens }) => writeContent(part, tokens))
}
