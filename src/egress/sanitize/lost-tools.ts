import type { Part } from '../../canonical/content.ts'
import type { Loss } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import { workOf } from '../../canonical/work.ts'

/**
 * The losses of tools that change a conversation (trap 89): of all tools, unless all are hosted or none may be called;
 * and of any that a call in the history or the choice names.
 */
export function essentialTools(losses: readonly Loss[], request: CanonicalRequest): readonly Loss[] {
  const { tools = [], toolChoice, messages } = request
  const gone = losses.filter(isOfTool)
  if (gone.length === 0 || tools.length === 0 || workOf(request) !== 'conversation') return []
  const lost = new Set(gone.flatMap(({ path: [, at] }) => at ?? [...tools.keys()]))
  const callable = toolChoice?.mode !== 'none' && tools.some(({ type }) => type !== 'hosted')
  if (callable && lost.size === tools.length) return gone
  const left = new Set(tools.flatMap((tool, index) => (lost.has(index) ? [] : (nameOf(tool) ?? []))))
  const called = new Set(messages.flatMap(({ content }) => content.flatMap(calledBy)))
  const chosen = new Set(toolChoice?.only)
  const named = (name: string) => !left.has(name) && (called.has(name) || chosen.has(name))
  return gone.filter(({ path: [, at] }) => {
    const name = nameOf(tools[at as number])
    return name !== undefined && named(name)
  })
}

/** Whether the loss is of a tool as a whole, or of all of them. */
const isOfTool = ({ kind, path, restored }: Loss): boolean =>
  kind === 'dropped' && restored !== true && path[0] === 'tools' && path.length <= 2

const calledBy = (part: Part): readonly string[] => (part.type === 'tool-call' ? [part.name] : [])

function nameOf(tool: Tool | undefined): string | undefined {
  if (tool === undefined || tool.type === 'hosted') return undefined
  if (tool.type !== 'opaque') return tool.name
  const { name } = tool.value
  return typeof name === 'string' ? name : undefined
}
