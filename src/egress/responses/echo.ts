import { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { spelt } from '../fields.ts'
import { FORMAT, type WriteContext } from './content.ts'
import { writeOutput, writeReasoning, writeSampling, writeSettings } from './settings.ts'
import { writeToolChoice, writeTools } from './tools.ts'

/**
 * The settings that every answer repeats of its request, with the public defaults; strict readers require all of them.
 */
export const DEFAULTS: JsonObject = {
  background: false,
  completed_at: null,
  frequency_penalty: 0,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  safety_identifier: null,
  store: true,
  temperature: 1,
  tool_choice: 'auto',
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
}

/** Settings without a canonical field that an answer repeats. */
const REPEATED = [
  ...['max_tool_calls', 'prompt', 'prompt_cache_options', 'prompt_cache_retention', 'truncation', 'top_logprobs'],
] as const

/** The caller's settings as an answer of the format repeats them, in place of the defaults. */
export function settingsEcho(request: CanonicalRequest): JsonObject {
  const context: WriteContext = { dialect: {}, native: true, losses: new Losses() }
  const { conversation, service_tier: _, ...settings } = writeSettings(request, context)
  const { tools } = writeTools(request, context) as { tools?: readonly JsonObject[] }
  const { text } = writeOutput(request.output, context) as { text?: JsonObject }
  const { reasoning } = writeReasoning(request.reasoning, context) as { reasoning?: JsonObject }
  return {
    ...instructionsOf(request),
    ...writeSampling(request.sampling, context),
    ...(request.sampling.logprobs === undefined ? {} : { top_logprobs: request.sampling.logprobs }),
    ...settings,
    ...(conversation === undefined ? {} : { conversation: { id: request.state!.conversation! } }),
    ...repeated(request),
    ...writeToolChoice(request, context),
    tools: tools?.map(whole) ?? [],
    text: { ...text, format: text?.['format'] ?? { type: 'text' } },
    reasoning: { effort: null, summary: null, ...reasoning },
  }
}

function instructionsOf({ messages: [first] }: CanonicalRequest): JsonObject {
  const part = spelt(first, FORMAT)['as'] === 'instructions' ? first?.content[0] : undefined
  return part?.type === 'text' ? { instructions: part.text } : {}
}

function repeated(request: CanonicalRequest): JsonObject {
  const extras = request.extras?.[FORMAT]
  if (extras === undefined) return {}
  return Object.fromEntries(REPEATED.filter(field => extras[field] != null).map(field => [field, extras[field]!]))
}

/** A function in the form of an answer: with all its fields. */
const whole = (tool: JsonObject): JsonObject =>
  tool['type'] === 'function' ? { description: null, parameters: null, strict: false, ...tool } : tool
