import type { Part, ToolCallPart, ToolResultPart } from './content.ts'
import type { Loss, Path } from './loss.ts'
import type { CanonicalRequest, Message } from './request.ts'

interface Call {
  readonly message: number
  readonly call: ToolCallPart
}

/**
 * A history that strict upstreams accept (trap 44): results without their call, and duplicate calls or results, are
 * dropped; a call whose result is missing gets a failed one, except where the history ends with the call. A result under
 * another name than its call gets the call's, except where only its own is that of a tool: then the call gets it (trap
 * 111). A history that needs no repair is returned as the same object.
 */
export function repair(request: CanonicalRequest): { request: CanonicalRequest; losses: readonly Loss[] } {
  const { messages } = request
  if (!messages.some(hasCallOrResult)) return { request, losses: [] }
  const runs = new Runs(messages)
  const pairs = pairUp(request, runs)
  const inserted = new Map<number, ToolResultPart[]>()
  for (const { message, call } of pairs.unanswered) {
    const calls = runs.endOf('assistant', message)
    if (calls === messages.length) continue
    const at = runs.endOf('tool', calls)
    inserted.getOrInsertComputed(at, () => []).push(unrecorded(call.id, call.freeform))
  }
  if (pairs.dropped.size + pairs.renamed.size + inserted.size === 0) return { request, losses: [] }

  const losses: Loss[] = []
  const repaired: Message[] = []
  for (let index = 0; index <= messages.length; index++) {
    for (const result of inserted.get(index) ?? []) {
      const value: Message = { role: 'tool', content: [result] }
      repaired.push(value)
      losses.push({ kind: 'inserted', path: ['messages', index], value, reason: 'unanswered-call' })
    }
    const message = messages[index]
    if (message === undefined) continue
    const content = message.content.flatMap((part, at) => {
      const left = repairedPart(part, pairs, ['messages', index, 'content', at], losses)
      return left === undefined ? [] : [left]
    })
    const { length } = message.content
    if (content.length === length && content.every((part, at) => part === message.content[at])) repaired.push(message)
    else if (content.length > 0 || message.extras !== undefined) repaired.push({ ...message, content })
  }
  return { request: { ...request, messages: repaired }, losses }
}

/** The part of the repaired history; undefined where it is dropped. */
function repairedPart(part: Part, { dropped, renamed }: Paired, path: Path, losses: Loss[]): Part | undefined {
  const reason = dropped.get(part)
  if (reason !== undefined) {
    losses.push({ kind: 'dropped', path, reason })
    return undefined
  }
  const name = renamed.get(part)
  if (name === undefined) return part
  const reasonOfName = part.type === 'tool-call' ? 'name-of-the-result' : 'name-of-the-call'
  losses.push({ kind: 'changed', path: [...path, 'name'], became: name, reason: reasonOfName })
  return { ...(part as ToolCallPart | ToolResultPart), name }
}

const hasCallOrResult = ({ content }: Message): boolean =>
  content.some(({ type }) => type === 'tool-call' || type === 'tool-result')

interface Paired {
  /** The parts of the history to drop, with the reason. */
  readonly dropped: ReadonlyMap<Part, string>
  /** The results under another name than their call, with the call's, or their calls, with the result's. */
  readonly renamed: ReadonlyMap<Part, string>
  /** The calls without a result. */
  readonly unanswered: Iterable<Call>
}

function pairUp({ messages, tools }: CanonicalRequest, runs: Runs): Paired {
  const dropped = new Map<Part, string>()
  const renamed = new Map<Part, string>()
  const open = new Map<string, Call>()
  const answered = new Set<string>()
  for (const [message, { content }] of messages.entries()) {
    for (const part of content) {
      if (part.type === 'tool-call') {
        const before = open.get(part.id)
        if (before !== undefined) {
          const sameTurn = runs.endOf('assistant', before.message) > message
          dropped.set(sameTurn ? part : before.call, 'duplicate-call')
          if (sameTurn) continue
          open.delete(part.id)
        }
        open.set(part.id, { message, call: part })
      } else if (part.type === 'tool-result') {
        const call = open.get(part.id)?.call
        if (call !== undefined) {
          open.delete(part.id)
          answered.add(part.id)
          if (part.name === undefined || part.name === call.name) continue
          if (isTool(part.name, tools) && !isTool(call.name, tools)) renamed.set(call, part.name)
          else renamed.set(part, call.name)
        } else dropped.set(part, answered.has(part.id) ? 'duplicate-result' : 'orphan-result')
      }
    }
  }
  return { dropped, renamed, unanswered: open.values() }
}

const isTool = (name: string, tools: CanonicalRequest['tools'] = []): boolean =>
  tools.some(tool => (tool.type === 'function' || tool.type === 'freeform') && tool.name === name)

/** The runs of messages of one role; each is walked once, and only on demand. */
class Runs {
  private readonly messages: readonly Message[]
  /** Where the run of a message ends, by the index of the message. */
  private readonly ends = new Map<number, number>()

  constructor(messages: readonly Message[]) {
    this.messages = messages
  }

  /** The end of the run of this role that holds `from`, or begins there. */
  endOf(role: Message['role'], from: number): number {
    const { messages, ends } = this
    let at = from
    while (messages[at]?.role === role && !ends.has(at)) at++
    const end = messages[at]?.role === role ? ends.get(at)! : at
    for (let index = from; index < at; index++) ends.set(index, end)
    return end
  }
}

/** The failed result for a call whose result is missing from the history. */
export const unrecorded = (id: string, freeform?: true): ToolResultPart => ({
  type: 'tool-result',
  id,
  content: [{ type: 'text', text: 'No result was recorded.' }],
  failed: true,
  ...(freeform === undefined ? {} : { freeform }),
})

export const isRedundant = (part: Part): boolean => part.type === 'opaque' && part.redundant === true

/**
 * The request for formats that do not define its redundant parts: without these parts, since their content is present
 * elsewhere. The same object where there are none.
 */
export function reduced(request: CanonicalRequest): { request: CanonicalRequest; losses: readonly Loss[] } {
  const { messages } = request
  if (!messages.some(({ content }) => content.some(isRedundant))) return { request, losses: [] }
  const losses: Loss[] = []
  const left = messages.flatMap((message, index): Message[] => {
    const content = message.content.filter((part, at) => {
      if (!isRedundant(part)) return true
      const path = ['messages', index, 'content', at]
      losses.push({ kind: 'dropped', path, reason: 'said-elsewhere', restored: true })
      return false
    })
    if (content.length === message.content.length) return [message]
    return content.length === 0 && message.extras === undefined ? [] : [{ ...message, content }]
  })
  return { request: { ...request, messages: left }, losses }
}
