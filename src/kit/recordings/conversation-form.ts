import { defined, isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { joinedTurns } from './canonical-form.ts'

/**
 * Returns the parts of a request that every conversation format can express: model, turns, tools and the shape of the
 * answer. By this form, a recording in one format answers a caller of another. The form excludes settings that one
 * format requires and another lacks, such as a token limit.
 */
export function conversationForm(form: JsonObject): JsonObject {
  const { model, messages, tools, toolChoice, output } = form
  const turns = listOf(messages).map(turnOf)
  const instructions = turns.filter(({ role }) => role === 'system')
  return defined({
    model,
    messages: joinedTurns([...instructions, ...turns.filter(({ role }) => role !== 'system')]),
    tools: tools && listOf(tools).map(tool => picked(tool, TOOL)),
    toolChoice: isObject(toolChoice) ? picked(toolChoice, ['mode', 'only']) : undefined,
    ...outputOf(isObject(output) ? output : {}),
  })
}

const TOOL = ['type', 'kind', 'name', 'description', 'parameters']

const turnOf = ({ role, content }: JsonObject): JsonObject => ({
  role: role === 'developer' ? 'system' : role!,
  content: listOf(content).flatMap(partOf),
})

/** Compared fields of each type of part. Reasoning has none, because most callers do not send it back. */
const PARTS: { readonly [type: string]: readonly string[] } = {
  reasoning: [],
  text: ['type', 'text'],
  refusal: ['type', 'text'],
  media: ['type', 'source'],
  'tool-call': ['type', 'id', 'name', 'arguments'],
  'tool-result': ['type', 'id', 'content'],
}

function partOf(part: JsonObject): readonly JsonObject[] {
  const type = String(part['type'])
  const fields = PARTS[type]
  if (fields === undefined) return [part]
  const kept = picked(part, fields)
  if (type === 'reasoning') return []
  if (type === 'refusal') return [{ ...kept, type: 'text' }]
  if (type === 'tool-result') return [{ ...kept, content: listOf(part['content']).flatMap(partOf) }]
  const { source } = part
  return [isObject(source) && source['type'] === 'url' ? { ...kept, source: picked(source, ['type', 'url']) } : kept]
}

function outputOf({ text, modalities, candidates }: JsonObject): { readonly [field: string]: Json | undefined } {
  const isPlain = !isObject(text) || text['shape'] === 'text'
  return {
    shape: isPlain ? undefined : picked(text, ['shape', 'schema']),
    modalities: JSON.stringify(modalities) === '["text"]' ? undefined : modalities,
    candidates: candidates === 1 ? undefined : candidates,
  }
}

const listOf = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

const picked = (value: JsonObject, fields: readonly string[]): JsonObject =>
  defined(Object.fromEntries(fields.map(field => [field, value[field]])))
