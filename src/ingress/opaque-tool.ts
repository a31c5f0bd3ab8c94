import { type Format, isObject, type JsonObject, stringIn } from '../canonical/node.ts'
import type { OpaqueTool } from '../canonical/tool.ts'

/** Reads a tool of a type that other formats lack. `client` marks a tool that the caller runs itself. */
export const opaqueTool = (format: Format, value: JsonObject): OpaqueTool =>
  isOfClient(value) ? { type: 'opaque', format, client: true, value } : { type: 'opaque', format, value }

/**
 * Matches types of tools that a vendor defines but the client runs: Anthropic's "client tools" in any version
 * (docs.claude.com, "Tool use"), OpenAI's local tools (platform.openai.com, "Tools"), and Google's computer use, which
 * is a type or a field.
 */
const CLIENT_TYPES =
  /^(?:(?:bash|text_editor|computer|memory)_\d+|local_shell|shell|apply_patch|computer|computer_use(?:_preview)?)$/
const CLIENT_FIELDS = ['computerUse', 'computer_use']

function isOfClient(value: JsonObject): boolean {
  const { type, execution, environment, tools } = value
  if (isObject(environment) && stringIn(environment['type']).startsWith('container')) return false
  if (typeof type === 'string' && CLIENT_TYPES.test(type)) return true
  if (execution === 'client' || CLIENT_FIELDS.some(field => value[field] != null)) return true
  if (Array.isArray(tools)) return tools.some(tool => isObject(tool) && (isPlain(tool) || isOfClient(tool)))
  return declaresArguments(value)
}

/** Returns true if a tool in an opaque group is a function or a custom tool. */
const isPlain = ({ type }: JsonObject): boolean => type === 'function' || type === 'custom'

/**
 * Returns true if a tool declares its arguments. Only tools that the client runs do so, because the upstream knows the
 * arguments of hosted tools.
 */
const declaresArguments = ({ function: definition, input_schema: schema, parameters }: JsonObject): boolean =>
  isObject(definition) || isObject(schema) || (isObject(parameters) && parameters['type'] === 'object')
