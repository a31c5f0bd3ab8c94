import type { Part } from '../canonical/content.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Tool } from '../canonical/tool.ts'

/** Whether all tools and calls of a request are functions without a namespace, or run by the upstream itself. */
export const hasFunctionsOnly = ({ tools, messages }: CanonicalRequest): boolean =>
  tools?.some(isOtherTool) !== true && !messages.some(({ content }) => content.some(isOtherCall))

const isOtherTool = (tool: Tool): boolean =>
  tool.type === 'freeform' || (tool.type === 'function' && tool.namespace !== undefined)

const isOtherCall = (part: Part): boolean =>
  part.type === 'tool-call' && (part.freeform === true || part.namespace !== undefined)
