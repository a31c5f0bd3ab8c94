import { type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import { anyObjects } from '../fields.ts'

/** Types of tools that the caller runs. All other tools run at the upstream. */
const RUN_BY_CALLER: ReadonlySet<Json | undefined> = new Set(['function', 'custom', 'namespace', 'tool_search'])

/**
 * Detects freeform calls that the upstream made for itself. xAI reports the steps of its hosted `x_search` as
 * `custom_tool_call` items with undeclared names (`x_keyword_search`), which expect no result (trap 101). Such calls
 * name an undeclared tool, in an answer whose `tools` include a hosted tool.
 */
export class UpstreamCalls {
  private readonly declared: readonly Tool[]
  private readonly names = lazy(() => new Set(this.declared.map(tool => ('name' in tool ? tool.name : undefined))))
  private readonly mayRun = lazy(
    () => this.declared.some(isHosted) && !this.declared.some(one => one.type === 'freeform'),
  )
  private repeatedTools: { readonly runs: boolean; readonly names: ReadonlySet<Json | undefined> } | undefined

  constructor(request: CanonicalRequest) {
    this.declared = request.tools ?? []
  }

  /** Records the tools that the answer repeats, by the names that the upstream received. */
  read({ tools }: JsonObject): this {
    const repeated = Array.isArray(tools) ? anyObjects(tools) : undefined
    if (repeated !== undefined) this.repeatedTools = { runs: repeated.some(runsUpstream), names: namesOf(repeated) }
    return this
  }

  /** Returns true if an item is a call that the upstream made for itself. */
  has(item: JsonObject): boolean {
    if (!isFreeform(item)) return false
    const { name } = item
    if (typeof name === 'string' && this.names().has(name)) return false
    const { repeatedTools: repeated } = this
    // The gateway may have sanitized names, so if the answer does not repeat the tools, only their kinds decide.
    if (repeated === undefined) return this.mayRun()
    return repeated.runs && !repeated.names.has(name)
  }
}

/**
 * Returns the items of a history that are the upstream's own calls: the item has an id, the caller neither declared the
 * tool nor answered the call, and an assistant message follows. Returns early if there are no freeform calls, as in
 * most histories.
 */
export function upstreamCallsIn(items: readonly JsonObject[], tools: Json | undefined): ReadonlySet<JsonObject> {
  if (!items.some(isFreeform)) return NO_CALLS
  const declared = anyObjects(tools)
  if (!declared.some(runsUpstream)) return NO_CALLS
  const names = namesOf(declared)
  const answeredIds = new Set(
    items.filter(({ type }) => stringIn(type).endsWith('_output')).map(({ call_id }) => call_id),
  )
  const lastMessage = items.findLastIndex(({ type, role }) => (type ?? 'message') === 'message' && role === 'assistant')
  const isUpstreamCall = (item: JsonObject): boolean =>
    isFreeform(item) && typeof item['id'] === 'string' && !answeredIds.has(item['call_id']) && !names.has(item['name'])
  return new Set(items.slice(0, Math.max(lastMessage, 0)).filter(isUpstreamCall))
}

const NO_CALLS: ReadonlySet<JsonObject> = new Set()

const isFreeform = ({ type }: JsonObject): boolean => type === 'custom_tool_call'
const runsUpstream = ({ type }: JsonObject): boolean => !RUN_BY_CALLER.has(type)

const isHosted = (tool: Tool): boolean => tool.type === 'hosted' || (tool.type === 'opaque' && runsUpstream(tool.value))

/** Returns the names of all tools, including tools in groups. */
function namesOf(tools: readonly JsonObject[]): ReadonlySet<Json | undefined> {
  const names = new Set<Json | undefined>()
  for (const { name, tools: inside } of tools) {
    names.add(name)
    for (const tool of anyObjects(inside)) names.add(tool['name'])
  }
  return names
}

/** Computes a value on first use, because most answers have no freeform calls. */
function lazy<T>(compute: () => T): () => T {
  let computed: { readonly value: T } | undefined
  return () => (computed ??= { value: compute() }).value
}
