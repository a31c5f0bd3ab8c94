import type { HostedKind, Tool } from '../../canonical/tool.ts'
import { FORMAT } from './content.ts'

/** Names and versions of hosted tools; native callers choose the version. */
export const HOSTED: { readonly [K in HostedKind]: { readonly name: string; readonly type: string } } = {
  'web-search': { type: 'web_search_20250305', name: 'web_search' },
  'web-fetch': { type: 'web_fetch_20250910', name: 'web_fetch' },
  'code-execution': { type: 'code_execution_20250825', name: 'code_execution' },
}

/** The tool's name on the wire; undefined for one of another format, or without a name. */
export function nameOf(tool: Tool): string | undefined {
  if (tool.type === 'hosted') return HOSTED[tool.kind].name
  if (tool.type !== 'opaque') return tool.name
  const name = tool.format === FORMAT ? tool.value['name'] : undefined
  return typeof name === 'string' ? name : undefined
}
