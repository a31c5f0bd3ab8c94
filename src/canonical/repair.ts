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
  const runs = new Runs(messages)
  const { dropped, unanswered } = pairUp(messages, runs)
  const inserted = new Map<number, ToolResultPart[]>()
  for (const { message, call } of unanswered) {
    const calls = runs.endOf('assistant', message)
    if (calls === messages.length) continue
    const at = runs.endOf('tool', calls)
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
function pairUp(messages: readonly Message[], runs: Runs): { dropped: Map<Part, string>; unanswered: Iterable<Call> } {
  const dropped = new Map<Part, string>()
  const open = new Map<string, Call>()
  const answered = new Set<string>()
  for (const [message, { content }] of messages.entries()) {
    for (const said of content) {
      if (said.type === 'tool-call') {
        const before = open.get(said.id)
        if (before !== undefined) {
          const sameTurn = runs.endOf('assistant', before.message) > message
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

/** The runs of messages of one role; each is walked through once, and only if it is asked for. */
class Runs {
  private readonly messages: readonly Message[]
  /** Where the run of a message ends, by the index of the message. */
  private readonly ends = new Map<number, number>()

  constructor(messages: readonly Message[]) {
    this.messages = messages
  }

  /** Where the run of this role that holds `from`, or begins there, ends. */
  endOf(role: Message['role'], from: number): number {
    const { messages, ends } = this
    let at = from
    while (messages[at]?.role === role && !ends.has(at)) at++
    const end = messages[at]?.role === role ? ends.get(at)! : at
    for (let index = from; index < at; index++) ends.set(index, end)
    return end
  }
}

const unrecorded = ({ id, freeform }: ToolCallPart): ToolResultPart => ({
  type: 'tool-result',
  id,
  content: [{ type: 'text', text: UNRECORDED }],
  failed: true,
  ...(freeform === undefined ? {} : { freeform }),
})
