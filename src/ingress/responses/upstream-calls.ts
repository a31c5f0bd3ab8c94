import { type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import { anyObjects } from '../fields.ts'

/** Tools of which the caller makes the calls; any other runs at the upstream. */
const CALLERS: ReadonlySet<Json | undefined> = new Set(['function', 'custom', 'namespace', 'tool_search'])

/**
 * Which freeform calls of an answer the upstream has made for itself: xAI tells the steps of its own `x_search` as
 * `custom_tool_call` items with names of its own (`x_keyword_search`), for which nobody waits for a result (trap 101).
 * They are calls of a tool nobody declared, in an answer whose `tools` name one that runs at the upstream.
 */
export class UpstreamCalls {
  private readonly asked: readonly Tool[]
  private readonly names = once(() => new Set(this.asked.map(tool => ('name' in tool ? tool.name : undefined))))
  private readonly mayRun = once(() => this.asked.some(isHosted) && !this.asked.some(one => one.type === 'freeform'))
  private told: { readonly runs: boolean; readonly names: ReadonlySet<Json | undefined> } | undefined

  constructor(asked: CanonicalRequest) {
    this.asked = asked.tools ?? []
  }

  /** The tools as the answer repeats them: under the names the upstream was told. */
  read({ tools }: JsonObject): this {
    const told = Array.isArray(tools) ? anyObjects(tools) : undefined
    if (told !== undefined) this.told = { runs: told.some(runsUpstream), names: namesOf(told) }
    return this
  }

  has(item: JsonObject): boolean {
    if (!isFreeform(item)) return false
    const { name } = item
    if (typeof name === 'string' && this.names().has(name)) return false
    const { told } = this
    // Names may have been made legal on the way: an answer that repeats no tools tells calls apart by their kind alone.
    if (told === undefined) return this.mayRun()
    return told.runs && !told.names.has(name)
  }
}

/**
 * Which items of a history are such calls: the upstream named the item, nobody declared the tool or answered the call,
 * and the assistant went on to speak. Most histories have no freeform calls, and are not looked at.
 */
export function upstreamCallsIn(items: readonly JsonObject[], tools: Json | undefined): ReadonlySet<JsonObject> {
  if (!items.some(isFreeform)) return NO_CALLS
  const declared = anyObjects(tools)
  if (!declared.some(runsUpstream)) return NO_CALLS
  const names = namesOf(declared)
  const answered = new Set(items.filter(({ type }) => stringIn(type).endsWith('_output')).map(({ call_id }) => call_id))
  const spoken = items.findLastIndex(({ type, role }) => (type ?? 'message') === 'message' && role === 'assistant')
  const isOwn = (item: JsonObject): boolean =>
    isFreeform(item) && typeof item['id'] === 'string' && !answered.has(item['call_id']) && !names.has(item['name'])
  return new Set(items.slice(0, Math.max(spoken, 0)).filter(isOwn))
}

const NO_CALLS: ReadonlySet<JsonObject> = new Set()

const isFreeform = ({ type }: JsonObject): boolean => type === 'custom_tool_call'
const runsUpstream = ({ type }: JsonObject): boolean => !CALLERS.has(type)

const isHosted = (tool: Tool): boolean => tool.type === 'hosted' || (tool.type === 'opaque' && runsUpstream(tool.value))

/** The names of tools, and of those in groups of them. */
function namesOf(tools: readonly JsonObject[]): ReadonlySet<Json | undefined> {
  const names = new Set<Json | undefined>()
  for (const { name, tools: inside } of tools) {
    names.add(name)
    for (const tool of anyObjects(inside)) names.add(tool['name'])
  }
  return names
}

/** Most answers have no freeform calls, and their tools are not looked at. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
