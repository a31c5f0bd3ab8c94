import type { Part } from '../canonical/content.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Tool } from '../canonical/tool.ts'

/** Whether a request declares or calls tools with free-form input. */
export const hasFreeformTools = (request: CanonicalRequest): boolean =>
  hasTool(
    request,
    tool => tool.type === 'freeform',
    part => part.type === 'tool-call' && part.freeform === true,
  )

/** Whether a request declares or calls tools of a namespace. */
export const hasNamespaces = (request: CanonicalRequest): boolean =>
  hasTool(
    request,
    tool => tool.type === 'function' && tool.namespace !== undefined,
    part => part.type === 'tool-call' && part.namespace !== undefined,
  )

/** Whether all tools and calls of a request are functions without a namespace, or run by the upstream itself. */
export const hasFunctionsOnly = (request: CanonicalRequest): boolean =>
  !hasFreeformTools(request) && !hasNamespaces(request)

const hasTool = (
  { tools, messages }: CanonicalRequest,
  isDeclared: (tool: Tool) => boolean,
  isCalled: (part: Part) => boolean,
): boolean => tools?.some(isDeclared) === true || messages.some(({ content }) => content.some(isCalled))
