import { defined, isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { joinedTurns } from './canonical-form.ts'

/**
 * Returns the parts of a request that every conversation format can express: model, turns, tools and the shape of the
 * answer. Matching on this form lets a recording made in one format answer a caller that uses another. The form
 * excludes settings that one format requires and another lacks, such as a token limit.
 */
export function conversationForm(form: JsonObject): JsonObject {
  const { model, messages, tools, toolChoice, output } = form
  const turns = listOf(messages).map(turnOf)
  const instructions = turns.filter(({ role }) => role === 'system')
  return defined({
    model,
    messages: joinedTurns([...instructions, ...turns.filter(({ role }) => role !== 'system')]),
    tools: tools && listOf(tools).map(tool => pickFields(tool, TOOL_FIELDS)),
    toolChoice: isObject(toolChoice) ? pickFields(toolChoice, ['mode', 'only']) : undefined,
    ...outputOf(isObject(output) ? output : {}),
  })
}

const TOOL_FIELDS = ['type', 'kind', 'name', 'description', 'parameters']

const turnOf = ({ role, content }: JsonObject): JsonObject => ({
  role: role === 'developer' ? 'system' : role!,
  content: listOf(content).flatMap(partOf),
})

/** Compared fields of each type of part. Reasoning has none, because most callers do not send it back. */
const PART_FIELDS: { readonly [type: string]: readonly string[] } = {
  reasoning: [],
  text: ['type', 'text'],
  refusal: ['type', 'text'],
  media: ['type', 'source'],
  'tool-call': ['type', 'id', 'name', 'arguments'],
  'tool-result': ['type', 'id', 'content'],
}

function partOf(part: JsonObject): readonly JsonObject[] {
  const type = String(part['type'])
  const fields = PART_FIELDS[type]
  if (fields === undefined) return [part]
  const comparedPart = pickFields(part, fields)
  if (type === 'reasoning') return []
  if (type === 'refusal') return [{ ...comparedPart, type: 'text' }]
  if (type === 'tool-result') return [{ ...comparedPart, content: listOf(part['content']).flatMap(partOf) }]
  const { source } = part
  return [
    isObject(source) && source['type'] === 'url'
      ? { ...comparedPart, source: pickFields(source, ['type', 'url']) }
      : comparedPart,
  ]
}

function outputOf({ text, modalities, candidates }: JsonObject): { readonly [field: string]: Json | undefined } {
  const isPlain = !isObject(text) || text['shape'] === 'text'
  return {
    shape: isPlain ? undefined : pickFields(text, ['shape', 'schema']),
    modalities: JSON.stringify(modalities) === '["text"]' ? undefined : modalities,
    candidates: candidates === 1 ? undefined : candidates,
  }
}

const listOf = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

const pickFields = (value: JsonObject, fields: readonly string[]): JsonObject =>
  defined(Object.fromEntries(fields.map(field => [field, value[field]])))
