import type { Part } from '../canonical/content.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Tool } from '../canonical/tool.ts'

/** Returns true if a request declares or calls tools with free-form input. */
export const hasFreeformTools = (request: CanonicalRequest): boolean => hasAny(request, isFreeform)

/** Returns true if a request declares or calls tools of a namespace. */
export const hasNamespaces = (request: CanonicalRequest): boolean => hasAny(request, isNamespaced)

/** Returns true if all tools and calls of a request are functions without a namespace, or run by the upstream itself. */
export const hasFunctionsOnly = (request: CanonicalRequest): boolean =>
  !hasAny(request, one => isFreeform(one) || isNamespaced(one))

const isFreeform = (one: Tool | Part): boolean =>
  one.type === 'freeform' || (one.type === 'tool-call' && one.freeform === true)

const isNamespaced = (one: Tool | Part): boolean =>
  (one.type === 'function' || one.type === 'tool-call') && one.namespace !== undefined

/** Returns true if a tool or a part of the history fits. */
const hasAny = ({ tools, messages }: CanonicalRequest, fits: (one: Tool | Part) => boolean): boolean =>
  tools?.some(fits) === true || messages.some(({ content }) => content.some(fits))
