import type { Part, ToolCallPart, ToolResultPart } from './content.ts'
import type { Loss } from './loss.ts'
import type { CanonicalRequest, Message } from './request.ts'

/** What a call is answered with whose result is nowhere in the history. */
const UNRECORDED = 'No result was recorded.'

interface Call {
  readonly message: number
  readonly call: ToolCallPart
}

/**
 * A history strict upstreams accept (trap 44): results without their call, and calls or results said twice, are
 * dropped; a call whose result is missing gets a failed one, except where the history ends with the call. A history
 * that needs nothing comes back as the same object.
 */
export function repair(request: CanonicalRequest): { request: CanonicalRequest; losses: readonly Loss[] } {
  const { messages } = request
  const endOf = runsOf(messages)
  const { dropped, unanswered } = pairUp(messages, endOf)
  const inserted = new Map<number, ToolResultPart[]>()
  for (const { message, call } of unanswered) {
    const calls = endOf('assistant', message)
    if (calls === messages.length) continue
    const at = endOf('tool', calls)
    const results = inserted.get(at)
    if (results === undefined) inserted.set(at, [unrecorded(call)])
    else results.push(unrecorded(call))
  }
  if (dropped.size === 0 && inserted.size === 0) return { request, losses: [] }

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
    const content = message.content.filter((part, at) => {
      const reason = dropped.get(part)
      if (reason !== undefined) losses.push({ kind: 'dropped', path: ['messages', index, 'content', at], reason })
      return reason === undefined
    })
    if (content.length === message.content.length) repaired.push(message)
    else if (content.length > 0 || message.extras !== undefined) repaired.push({ ...message, content })
  }
  return { request: { ...request, messages: repaired }, losses }
}

/** Which parts of the history must go, with the reason, and which calls nobody answered. */
function pairUp(
  messages: readonly Message[],
  endOf: EndOf,
): { dropped: Map<Part, string>; unanswered: Iterable<Call> } {
  const dropped = new Map<Part, string>()
  const open = new Map<string, Call>()
  const answered = new Set<string>()
  for (const [message, { content }] of messages.entries()) {
    for (const said of content) {
      if (said.type === 'tool-call') {
        const before = open.get(said.id)
        if (before !== undefined) {
          const sameTurn = endOf('assistant', before.message) > message
          dropped.set(sameTurn ? said : before.call, 'duplicate-call')
          if (sameTurn) continue
          open.delete(said.id)
        }
        open.set(said.id, { message, call: said })
      } else if (said.type === 'tool-result') {
        if (open.delete(said.id)) answered.add(said.id)
        else dropped.set(said, answered.has(said.id) ? 'duplicate-result' : 'orphan-result')
      }
    }
  }
  return { dropped, unanswered: open.values() }
}

/** Where the run of messages of one role that holds `from`, or begins there, ends. */
type EndOf = (role: Message['role'], from: number) => number

/** Where runs end is looked up once, and only if somebody asks: a history may be one long run. */
function runsOf(messages: readonly Message[]): EndOf {
  let ends: readonly number[] | undefined
  return (role, from) => (messages[from]?.role === role ? (ends ??= endsIn(messages))[from]! : from)
}

function endsIn(messages: readonly Message[]): readonly number[] {
  const ends: number[] = new Array(messages.length)
  for (let at = messages.length - 1; at >= 0; at--)
    ends[at] = messages[at + 1]?.role === messages[at]!.role ? ends[at + 1]! : at + 1
  return ends
}

const unrecorded = ({ id, freeform }: ToolCallPart): ToolResultPart => ({
  type: 'tool-result',
  id,
  content: [{ type: 'text', text: UNRECORDED }],
  failed: true,
  ...(freeform === undefined ? {} : { freeform }),
})
