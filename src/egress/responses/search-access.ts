import type { OpaquePart } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { HostedTool, Tool } from '../../canonical/tool.ts'
import type { ResponsesDialect } from '../../formats/dialects/responses.ts'
import { FORMAT, type WriteContext } from './content.ts'

/*
 * Searches that only OpenAI has. Its models search for tools that Codex holds back; xAI refuses that: "unknown variant
 * `tool_search`" (bifrost#5428). Searches of Codex state whether they may reach the web or only OpenAI's index. Other
 * servers always reach the web; xAI refuses the field: "Argument not supported: external_web_access" (opencodex#2240).
 */

const ACCESS = 'external_web_access'

/** Returns true if the upstream takes what only OpenAI has of tools. */
export const takesNamespaces = ({ namespaces, stateless }: ResponsesDialect): boolean =>
  stateless !== true && namespaces !== false

/** Returns true if the upstream takes searches that only OpenAI has. Servers without stored answers ignore them. */
export const takesOpenaiSearches = ({ namespaces }: ResponsesDialect): boolean => namespaces !== false

const accessOf = (tool: Tool) => (tool.type === 'hosted' ? tool.extras?.[FORMAT]?.[ACCESS] : undefined)

/** Returns true if a request has a search for tools, or a search of the web that states its access. */
export const hasOpenaiSearches = ({ tools }: CanonicalRequest): boolean =>
  tools?.some(tool => accessOf(tool) !== undefined || (tool.type === 'opaque' && isToolSearch(tool))) === true

/** Returns true for the search for tools, and for a call of it. */
export const isToolSearch = ({ value }: Pick<OpaquePart, 'value'>): boolean =>
  value['type'] === 'tool_search' || value['type'] === 'tool_search_call'

/** Returns the search without its access. Undefined if it may not reach the web, because the upstream's would. */
export function withoutAccess(tool: HostedTool, path: Path, { dialect, losses }: WriteContext): HostedTool | undefined {
  const access = accessOf(tool)
  if (access === undefined || takesOpenaiSearches(dialect)) return tool
  if (access === false) return losses.drop(path, 'no-search-without-the-web')
  losses.dropRestored([...path, 'extras', FORMAT, ACCESS], 'the-default')
  const { [ACCESS]: _, ...others } = tool.extras![FORMAT]!
  return { ...tool, extras: { ...tool.extras, [FORMAT]: others } }
}
