import type { Part, ToolCallPart, ToolResultPart } from './content.ts'
import type { Loss, Path } from './loss.ts'
import { getOrAdd } from './maps.ts'
import type { CanonicalRequest, Message } from './request.ts'

interface Call {
  readonly message: number
  readonly call: ToolCallPart
}

/**
 * Repairs a history so that strict upstreams accept it (trap 44). Drops results without a call, duplicate calls and
 * duplicate results. Inserts a failed result for a call without one, except at the end of the history. If the tool
 * names of a result and its call differ, the result gets the call's name, unless only the result's name is a declared
 * tool: the call then gets the result's name (trap 111). Returns the same request object if nothing needs repair.
 */
export function repair(request: CanonicalRequest): { request: CanonicalRequest; losses: readonly Loss[] } {
  const { messages } = request
  if (!messages.some(hasCallOrResult)) return { request, losses: [] }
  const runs = new Runs(messages)
  const pairs = pairUp(request, runs)
  const insertedResults = new Map<number, ToolResultPart[]>()
  for (const { message, call } of pairs.unanswered) {
    const calls = runs.endOf('assistant', message)
    if (calls === messages.length) continue
    const at = runs.endOf('tool', calls)
    getOrAdd(insertedResults, at, () => []).push(missingResult(call.id, call.freeform))
  }
  if (pairs.dropped.size + pairs.renamed.size + insertedResults.size === 0) return { request, losses: [] }

  const losses: Loss[] = []
  const repairedMessages: Message[] = []
  for (let index = 0; index <= messages.length; index++) {
    for (const result of insertedResults.get(index) ?? []) {
      const value: Message = { role: 'tool', content: [result] }
      repairedMessages.push(value)
      losses.push({ kind: 'inserted', path: ['messages', index], value, reason: 'unanswered-call' })
    }
    const message = messages[index]
    if (message === undefined) continue
    const content = message.content.flatMap((part, at) => {
      const remaining = repairedPart(part, pairs, ['messages', index, 'content', at], losses)
      return remaining === undefined ? [] : [remaining]
    })
    const { length } = message.content
    if (content.length === length && content.every((part, at) => part === message.content[at]))
      repairedMessages.push(message)
    else if (content.length > 0 || message.extras !== undefined) repairedMessages.push({ ...message, content })
  }
  return { request: { ...request, messages: repairedMessages }, losses }
}

/** Returns the repaired part, or undefined if the part is dropped. */
function repairedPart(part: Part, { dropped, renamed }: CallPairs, path: Path, losses: Loss[]): Part | undefined {
  const reason = dropped.get(part)
  if (reason !== undefined) {
    losses.push({ kind: 'dropped', path, reason })
    return undefined
  }
  const name = renamed.get(part)
  if (name === undefined) return part
  const renameReason = part.type === 'tool-call' ? 'name-of-the-result' : 'name-of-the-call'
  losses.push({ kind: 'changed', path: [...path, 'name'], became: name, reason: renameReason })
  return { ...(part as ToolCallPart | ToolResultPart), name }
}

const hasCallOrResult = ({ content }: Message): boolean =>
  content.some(({ type }) => type === 'tool-call' || type === 'tool-result')

interface CallPairs {
  /** Parts to drop, with the reason. */
  readonly dropped: ReadonlyMap<Part, string>
  /** New tool names for results and calls whose names differ. */
  readonly renamed: ReadonlyMap<Part, string>
  /** Calls without a result. */
  readonly unanswered: Iterable<Call>
}

/** Matches the results in a history to its calls. */
function pairUp({ messages, tools }: CanonicalRequest, runs: Runs): CallPairs {
  const dropped = new Map<Part, string>()
  const renamed = new Map<Part, string>()
  const openCalls = new Map<string, Call>()
  const answeredIds = new Set<string>()
  for (const [message, { content }] of messages.entries()) {
    for (const part of content) {
      if (part.type === 'tool-call') {
        const earlierCall = openCalls.get(part.id)
        if (earlierCall !== undefined) {
          const sameTurn = runs.endOf('assistant', earlierCall.message) > message
          dropped.set(sameTurn ? part : earlierCall.call, 'duplicate-call')
          if (sameTurn) continue
          openCalls.delete(part.id)
        }
        openCalls.set(part.id, { message, call: part })
      } else if (part.type === 'tool-result') {
        const call = openCalls.get(part.id)?.call
        if (call !== undefined) {
          openCalls.delete(part.id)
          answeredIds.add(part.id)
          if (part.name === undefined || part.name === call.name) continue
          if (isTool(part.name, tools) && !isTool(call.name, tools)) renamed.set(call, part.name)
          else renamed.set(part, call.name)
        } else dropped.set(part, answeredIds.has(part.id) ? 'duplicate-result' : 'orphan-result')
      }
    }
  }
  return { dropped, renamed, unanswered: openCalls.values() }
}

const isTool = (name: string, tools: CanonicalRequest['tools'] = []): boolean =>
  tools.some(tool => (tool.type === 'function' || tool.type === 'freeform') && tool.name === name)

/** Finds runs of consecutive messages with the same role. Walks each run only once, when it is first needed. */
class Runs {
  private readonly messages: readonly Message[]
  /** End of each message's run, exclusive, by the index of the message. */
  private readonly ends = new Map<number, number>()

  constructor(messages: readonly Message[]) {
    this.messages = messages
  }

  /**
   * Returns the exclusive end of the run of this role that starts at `from`, or `from` itself if that message has
   * another role.
   */
  endOf(role: Message['role'], from: number): number {
    const { messages, ends } = this
    let at = from
    while (messages[at]?.role === role && !ends.has(at)) at++
    const end = messages[at]?.role === role ? ends.get(at)! : at
    for (let index = from; index < at; index++) ends.set(index, end)
    return end
  }
}

/** Creates the failed result for a call whose result is missing. */
export const missingResult = (id: string, freeform?: true): ToolResultPart => ({
  type: 'tool-result',
  id,
  content: [{ type: 'text', text: 'No result was recorded.' }],
  failed: true,
  ...(freeform === undefined ? {} : { freeform }),
})

/** Returns true if another part of the request has the part's content. */
export const isRedundant = (part: Part): boolean => part.type === 'opaque' && part.redundant === true

/**
 * Drops redundant parts from a request to a format that does not define them. Returns the same object if there are
 * none.
 */
export function withoutRedundantParts(request: CanonicalRequest): {
  request: CanonicalRequest
  losses: readonly Loss[]
} {
  const { messages } = request
  if (!messages.some(({ content }) => content.some(isRedundant))) return { request, losses: [] }
  const losses: Loss[] = []
  const remaining = messages.flatMap((message, index): Message[] => {
    const content = message.content.filter((part, at) => {
      if (!isRedundant(part)) return true
      const path = ['messages', index, 'content', at]
      losses.push({ kind: 'dropped', path, reason: 'said-elsewhere', restored: true })
      return false
    })
    if (content.length === message.content.length) return [message]
    return content.length === 0 && message.extras === undefined ? [] : [{ ...message, content }]
  })
  return { request: { ...request, messages: remaining }, losses }
}
