import { type Format, isObject, type JsonObject } from '../canonical/node.ts'
import type { OpaqueTool } from '../canonical/tool.ts'

/** A tool of a type that only this format defines, with who runs it. */
export const opaqueTool = (format: Format, value: JsonObject): OpaqueTool =>
  isOfClient(value) ? { type: 'opaque', format, client: true, value } : { type: 'opaque', format, value }

/**
 * Tools whose calls the client answers although their publisher defines them: Anthropic's "client tools" at any version
 * (docs.claude.com, "Tool use"), OpenAI's local ones (platform.openai.com, "Tools"), and Google's computer use, which is
 * a field.
 */
const CLIENT_TYPES =
  /^(?:(?:bash|text_editor|computer|memory)_\d+|local_shell|shell|apply_patch|computer|computer_use_preview)$/
const CLIENT_FIELDS = ['computerUse', 'computer_use']

function isOfClient(value: JsonObject): boolean {
  const { type, execution, environment, tools } = value
  if (isObject(environment) && String(environment['type']).startsWith('container')) return false
  if (typeof type === 'string' && CLIENT_TYPES.test(type)) return true
  if (execution === 'client' || CLIENT_FIELDS.some(field => value[field] != null)) return true
  if (Array.isArray(tools)) return tools.some(tool => isObject(tool) && (isPlain(tool) || isOfClient(tool)))
  return declaresArguments(value)
}

/** A function or a custom tool, in a group that is kept whole. */
const isPlain = ({ type }: JsonObject): boolean => type === 'function' || type === 'custom'

/** Arguments are declared for those who are to run a tool; of hosted ones the upstream knows them. */
const declaresArguments = ({ function: definition, input_schema: schema, parameters }: JsonObject): boolean =>
  isObject(definition) || isObject(schema) || (isObject(parameters) && parameters['type'] === 'object')
