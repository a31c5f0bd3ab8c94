import type { Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject, type Node } from '../../canonical/node.ts'
import type { CanonicalRequest, Message, Output, Sampling } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import { isSearch } from '../searches.ts'
import { FORMAT } from './content.ts'

/*
 * Mistral refuses a request with any field that it does not know (422 `extra_forbidden`), also where the value is null
 * (docs/wire/chat.md#fields-that-mistral-takes). Clients that are set up for OpenAI send such fields by default.
 */

const BODY_FIELDS: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'temperature', 'top_p', 'max_tokens', 'stream', 'stop', 'random_seed', 'metadata'],
  ...['response_format', 'tools', 'tool_choice', 'presence_penalty', 'frequency_penalty', 'n', 'prediction'],
  ...['parallel_tool_calls', 'reasoning_effort', 'prompt_mode', 'guardrails', 'safe_prompt', 'min_tokens'],
  ...['repetition_penalty', 'top_k', 'logprobs', 'top_logprobs', 'prompt_logprobs', 'top_prompt_logprobs'],
])
const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls', 'tool_call_id', 'prefix'])
const TOOL_MESSAGE_FIELDS: ReadonlySet<string> = new Set(['role', 'content', 'tool_call_id', 'name'])
const PART_FIELDS: ReadonlySet<string> = new Set([
  ...['type', 'text', 'image_url', 'document_url', 'document_name', 'file_id', 'input_audio', 'reference_ids'],
  ...['thinking', 'signature', 'closed'],
])
const CALL_FIELDS: ReadonlySet<string> = new Set(['id', 'type', 'function', 'index'])
const TOOL_FIELDS: ReadonlySet<string> = new Set(['type', 'function'])
const FUNCTION_FIELDS: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'strict'])

type Fields = ReadonlySet<string>

/** Returns true if Mistral refuses the body for one of its fields. */
export const hasUnknownFields = (body: JsonObject): boolean =>
  hasOthers(body, BODY_FIELDS) ||
  isGreedy(body['temperature'], body['top_p']) ||
  endsUnmarked(body) ||
  itemsOf(body['messages']).some(isOdd) ||
  itemsOf(body['tools']).some(isOddTool)

const isOdd = (message: JsonObject): boolean =>
  hasOthers(message, message['role'] === 'tool' ? TOOL_MESSAGE_FIELDS : MESSAGE_FIELDS) ||
  itemsOf(message['content']).some(part => hasOthers(part, PART_FIELDS)) ||
  itemsOf(message['tool_calls']).some(call => hasOthers(call, CALL_FIELDS))

const isOddTool = (tool: JsonObject): boolean =>
  isObject(tool['function']) &&
  (hasOthers(tool, TOOL_FIELDS) ||
    hasOthers(tool['function'], FUNCTION_FIELDS) ||
    tool['function']['parameters'] === undefined)

const itemsOf = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

function hasOthers(object: JsonObject, known: Fields): boolean {
  for (const field in object) if (!known.has(field)) return true
  return false
}

/**
 * Returns true if nothing is sampled, so that Mistral refuses another `top_p` than 1: "top_p must be 1 when using greedy
 * sampling" (devoxx/DevoxxGenieIDEAPlugin#338, read on 2026-12-01).
 */
const isGreedy = (temperature: Json | undefined, topP: Json | undefined): boolean =>
  temperature === 0 && topP != null && topP !== 1

/**
 * Returns true if the last message is one of the assistant that Mistral does not continue: "Expected last role User or
 * Tool (or Assistant with prefix True)" (NEKOparapa/AiNiee#641, read on 2026-12-01).
 */
function endsUnmarked(body: JsonObject): boolean {
  const last = itemsOf(body['messages']).at(-1)
  return last?.['role'] === 'assistant' && last['tool_calls'] == null && last['prefix'] !== true
}

/** Returns the request without what would be written to a field that Mistral does not know. */
export function withKnownFields(request: CanonicalRequest, losses: Losses): CanonicalRequest {
  const { endUser: _, serviceTier: __, ...known } = request
  losses.dropFields(request, [], { endUser: 'no-end-user', serviceTier: 'no-tiers' })
  return {
    ...withKnownExtras(known, [], BODY_FIELDS, losses),
    sampling: withKnownSampling(request.sampling, losses),
    messages: withPrefix(
      request.messages.map((message, index) => withKnownMessage(message, ['messages', index], losses)),
      losses,
    ),
    output: withKnownOutput(request.output, losses),
    ...(request.tools === undefined
      ? {}
      : { tools: request.tools.map((tool, index) => withKnownTool(tool, ['tools', index], losses)) }),
  }
}

function withKnownSampling(sampling: Sampling, losses: Losses): Sampling {
  const { topP, ...others } = sampling
  if (!isGreedy(sampling.temperature, topP)) return sampling
  losses.dropRestored(['sampling', 'topP'], 'nothing-is-sampled')
  return others
}

/** Marks the text of a last turn of the assistant as the beginning of the answer. */
function withPrefix(messages: readonly Message[], losses: Losses): readonly Message[] {
  const at = messages.findLastIndex(({ content }) => content.some(isWritten))
  const last = messages[at]
  if (last?.role !== 'assistant' || !isText(last) || last.extras?.[FORMAT]?.['prefix'] === true) return messages
  const extras = { ...last.extras, [FORMAT]: { ...last.extras?.[FORMAT], prefix: true } }
  const path = ['messages', at, 'extras']
  if (last.extras === undefined) losses.add(path, extras, 'continued-by-the-model')
  else if (last.extras[FORMAT] === undefined) losses.add([...path, FORMAT], extras[FORMAT], 'continued-by-the-model')
  else losses.add([...path, FORMAT, 'prefix'], true, 'continued-by-the-model')
  return messages.with(at, { ...last, extras })
}

const isWritten = (part: Part): boolean => isWords(part) || (part.type !== 'text' && part.type !== 'opaque')

/** Returns true for a part that is written as text. */
const isWords = (part: Part): boolean =>
  ((part.type === 'text' || part.type === 'opaque' || part.type === 'refusal') && !!part.text) || isSearch(part)

const isText = ({ content }: Message): boolean =>
  content.some(isWords) && content.every(part => part.type !== 'tool-call')

/** An answer is text unless something else is asked for, so that `modalities: ["text"]` is no loss. */
function withKnownOutput({ modalities, audio, ...output }: Output, losses: Losses): Output {
  if (modalities?.every(modality => modality === 'text')) losses.dropRestored(['output', 'modalities'], 'text-only')
  else if (modalities !== undefined) losses.drop(['output', 'modalities'], 'text-only')
  if (audio !== undefined) losses.drop(['output', 'audio'], 'text-only')
  if (output.text === undefined) return output
  return { ...output, text: withKnownExtras(output.text, ['output', 'text'], NONE, losses) }
}

/** Mistral demands the parameters of a function. */
function withKnownTool(tool: Tool, path: Path, losses: Losses): Tool {
  const known = withKnownExtras(tool, path, TOOL_FIELDS, losses)
  if (known.type !== 'function' || known.parameters !== undefined) return known
  losses.add([...path, 'parameters'], EMPTY_SCHEMA, 'minted-empty-schema')
  return { ...known, parameters: EMPTY_SCHEMA }
}

const EMPTY_SCHEMA: JsonObject = { type: 'object', properties: {} }

const NONE: Fields = new Set()

function withKnownMessage(message: Message, path: Path, losses: Losses): Message {
  const { name, ...known } = message
  if (name !== undefined) losses.drop([...path, 'name'], 'no-names')
  return {
    ...withKnownExtras(known, path, MESSAGE_FIELDS, losses),
    content: message.content.map((part, index) => withKnownPart(part, [...path, 'content', index], losses)),
  }
}

const withKnownPart = (part: Part, path: Path, losses: Losses): Part =>
  withKnownExtras(part, path, part.type === 'tool-call' ? CALL_FIELDS : PART_FIELDS, losses)

/** Extras inside of a known field, such as those of a function, are unknown, too. */
function withKnownExtras<N extends Node>(node: N, path: Path, known: Fields, losses: Losses): N {
  const extras = node.extras?.[FORMAT]
  if (extras === undefined) return node
  const kept = Object.entries(extras).filter(
    ([field, value]) => known.has(field) && !(path.length > 0 && isObject(value)),
  )
  if (kept.length === Object.keys(extras).length) return node
  const names = new Set(kept.map(([field]) => field))
  for (const field in extras)
    if (!names.has(field)) losses.drop([...path, 'extras', FORMAT, field], 'no-equivalent-field')
  return { ...node, extras: { ...node.extras, [FORMAT]: Object.fromEntries(kept) } }
}
