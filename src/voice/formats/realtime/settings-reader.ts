import { invalid } from '../../../canonical/error.ts'
import { defined, isObject, type Json, type JsonObject } from '../../../canonical/node.ts'
import { EFFORTS, type Effort, type Modality } from '../../../canonical/request.ts'
import { excerpt } from '../../../canonical/text.ts'
import type { Tool, ToolChoice } from '../../../canonical/tool.ts'
import {
  ALAW,
  type AudioFormat,
  type InputSettings,
  type InputTranscription,
  MULAW,
  type OutputSettings,
  type TurnDetection,
  type VoiceSessionSettings,
} from '../../../canonical/voice-session.ts'
import {
  checkCase,
  exactNames,
  fieldsExcept,
  flagAt,
  listAt,
  numberAt,
  objectAt,
  requiredTextAt,
  textAt,
} from '../fields.ts'
import { betaFormat, canonicalModalities, REALTIME } from './wire.ts'

/**
 * Reads the settings of a `session` or `response` object. Fields may be in the GA layout, the beta layout, or a mixture
 * as in xAI's sessions.
 *
 * @param path the object's path, for errors.
 * @throws GatewayError `invalid-request` with the path of the invalid field.
 */
export function readSettings(session: JsonObject, path: string): VoiceSessionSettings {
  checkCase(session, CHECKED_SETTINGS, path)
  const audio = objectAt(session['audio'], `${path}.audio`) ?? {}
  const effort = textAt(objectAt(session['reasoning'], `${path}.reasoning`)?.['effort'], `${path}.reasoning.effort`)
  return defined({
    model: textAt(session['model'], `${path}.model`),
    purpose: purposeOf(session['type'], `${path}.type`),
    instructions: textAt(session['instructions'], `${path}.instructions`),
    modalities: modalitiesOf(session['output_modalities'] ?? session['modalities'], `${path}.output_modalities`),
    tools: listAt(session['tools'], `${path}.tools`)?.map((tool, index) => readTool(tool, `${path}.tools[${index}]`)),
    toolChoice: toolChoiceOf(session['tool_choice'], `${path}.tool_choice`),
    parallelToolCalls: flagAt(session['parallel_tool_calls'], `${path}.parallel_tool_calls`),
    maxTokens: maxTokensOf(session, path),
    temperature: temperatureOf(session, path),
    reasoning: effort === undefined || !isEffort(effort) ? undefined : { effort },
    input: nonEmpty(inputOf(session, objectAt(audio['input'], `${path}.audio.input`) ?? {}, path)),
    output: nonEmpty(outputOf(session, objectAt(audio['output'], `${path}.audio.output`) ?? {}, path)),
    extras: extrasOf(session, KNOWN_FIELDS),
  }) as VoiceSessionSettings
}

/** Fields that affect permissions. They are accepted only in their exact case. */
const CHECKED_SETTINGS = exactNames('model')

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...['type', 'object', 'id', 'model', 'instructions', 'output_modalities', 'modalities', 'tools', 'tool_choice'],
  ...['parallel_tool_calls', 'max_output_tokens', 'max_response_output_tokens', 'temperature', 'reasoning', 'audio'],
  ...['input_audio_format', 'output_audio_format', 'input_audio_transcription', 'input_audio_noise_reduction'],
  ...['turn_detection', 'voice', 'speed', 'expires_at', 'client_secret', 'conversation', 'metadata', 'input'],
])
const KNOWN_INPUT: ReadonlySet<string> = new Set(['format', 'transcription', 'noise_reduction', 'turn_detection'])
const KNOWN_OUTPUT: ReadonlySet<string> = new Set(['format', 'voice', 'speed'])

function extrasOf(object: JsonObject, known: ReadonlySet<string>) {
  const rest = fieldsExcept(object, known)
  return rest === undefined ? undefined : { [REALTIME]: rest }
}

const nonEmpty = <T extends object>(value: T): T | undefined => (Object.keys(value).length === 0 ? undefined : value)

const purposeOf = (type: Json | undefined, path: string): VoiceSessionSettings['purpose'] => {
  const name = textAt(type, path)
  if (name === undefined || name === 'realtime') return undefined
  if (name === 'transcription') return 'transcription'
  throw invalid(`Invalid value: '${excerpt(name)}'. Supported values are: 'realtime' and 'transcription'.`, path)
}

function modalitiesOf(value: Json | undefined, path: string): readonly Modality[] | undefined {
  const tools = listAt(value, path)?.map(one => {
    if (one === 'text' || one === 'audio') return one
    throw invalid(`Invalid value: '${excerpt(String(one))}'. Supported values are: 'text' and 'audio'.`, path)
  })
  return tools && canonicalModalities(tools)
}

function maxTokensOf(session: JsonObject, path: string): VoiceSessionSettings['maxTokens'] {
  const value = session['max_output_tokens'] ?? session['max_response_output_tokens']
  return value === 'inf' ? 'unlimited' : numberAt(value, `${path}.max_output_tokens`)
}

/** Reads the temperature. xAI reports -1 if it is not set. */
const temperatureOf = (session: JsonObject, path: string): number | undefined => {
  const value = numberAt(session['temperature'], `${path}.temperature`)
  return value === undefined || value < 0 ? undefined : value
}

const isEffort = (word: string): word is Effort => (EFFORTS as readonly string[]).includes(word)

function readTool(tool: Json, path: string): Tool {
  const fields = objectAt(tool, path) ?? {}
  if ((fields['type'] ?? 'function') !== 'function') return { type: 'opaque', format: REALTIME, value: fields }
  return defined({
    type: 'function' as const,
    name: requiredTextAt(fields['name'], `${path}.name`),
    description: textAt(fields['description'], `${path}.description`),
    parameters: objectAt(fields['parameters'], `${path}.parameters`),
    extras: extrasOf(fields, KNOWN_TOOL),
  }) as Tool
}

const KNOWN_TOOL: ReadonlySet<string> = new Set(['type', 'name', 'description', 'parameters'])

function toolChoiceOf(value: Json | undefined, path: string): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return { mode: value }
  if (!isObject(value)) throw invalid(`Invalid value for '${path}'.`, path)
  if (value['type'] !== 'function') return { mode: 'required', extras: { [REALTIME]: { tool_choice: value } } }
  return { mode: 'required', only: [requiredTextAt(value['name'], `${path}.name`)] }
}

function inputOf(session: JsonObject, input: JsonObject, path: string): InputSettings {
  const at = `${path}.audio.input`
  const transcription = 'transcription' in input ? input['transcription'] : session['input_audio_transcription']
  const noise = 'noise_reduction' in input ? input['noise_reduction'] : session['input_audio_noise_reduction']
  const turns = 'turn_detection' in input ? input['turn_detection'] : session['turn_detection']
  return defined({
    format: formatOf(input['format'] ?? session['input_audio_format'], `${at}.format`),
    transcription: transcription === null ? null : transcriptionOf(transcription, `${at}.transcription`),
    noiseReduction: noise === null ? null : noiseReductionOf(noise, `${at}.noise_reduction`),
    turnDetection: turns === null ? null : turnDetectionOf(turns, `${at}.turn_detection`),
    extras: extrasOf(input, KNOWN_INPUT),
  }) as InputSettings
}

const noiseReductionOf = (value: Json | undefined, path: string): string | undefined =>
  textAt(objectAt(value, path)?.['type'], `${path}.type`)

function outputOf(session: JsonObject, output: JsonObject, path: string): OutputSettings {
  const at = `${path}.audio.output`
  const voice = output['voice'] ?? session['voice']
  const isNamed = isObject(voice)
  return defined({
    format: formatOf(output['format'] ?? session['output_audio_format'], `${at}.format`),
    voice: textAt(isNamed ? (voice['id'] ?? voice['name']) : voice, `${at}.voice`),
    speed: numberAt(output['speed'] ?? session['speed'], `${at}.speed`),
    spelling: isNamed ? { [REALTIME]: { voice } } : undefined,
    extras: extrasOf(output, KNOWN_OUTPUT),
  }) as OutputSettings
}

/** PCM sample rates accepted from callers. OpenAI supports only 24 kHz, xAI supports all of them. */
const RATES: ReadonlySet<number> = new Set([8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000])

function formatOf(value: Json | undefined, path: string): AudioFormat | undefined {
  if (value === undefined || value === null || value === 'not specified') return undefined
  const known = isObject(value) ? gaFormatOf(value, path) : betaFormat(requiredTextAt(value, path))
  if (known === undefined) throw invalid(`Unsupported audio format for '${path}'.`, path)
  return known
}

function gaFormatOf(value: JsonObject, path: string): AudioFormat | undefined {
  if (value['type'] === 'audio/pcmu') return MULAW
  if (value['type'] === 'audio/pcma') return ALAW
  const rate = numberAt(value['rate'], `${path}.rate`) ?? 24_000
  return value['type'] === 'audio/pcm' && RATES.has(rate) ? { encoding: 'pcm16', rate } : undefined
}

function transcriptionOf(value: Json | undefined, path: string): InputTranscription | undefined {
  const fields = objectAt(value, path)
  if (fields === undefined) return undefined
  return defined({
    model: textAt(fields['model'], `${path}.model`),
    language: textAt(fields['language'] ?? fields['language_hint'], `${path}.language`),
    prompt: textAt(fields['prompt'], `${path}.prompt`),
    extras: extrasOf(fields, KNOWN_TRANSCRIPTION),
  }) as InputTranscription
}

const KNOWN_TRANSCRIPTION: ReadonlySet<string> = new Set(['model', 'language', 'language_hint', 'prompt'])

/** Reads turn detection. Accepts vendors' variants of `semantic_vad`. xAI sends a null type if there is none. */
function turnDetectionOf(value: Json | undefined, path: string): TurnDetection | null | undefined {
  const fields = objectAt(value, path)
  if (fields === undefined) return undefined
  const { type } = fields
  if (type === null || type === 'none') return null
  const flags = {
    respond: flagAt(fields['create_response'], `${path}.create_response`),
    interrupt: flagAt(fields['interrupt_response'], `${path}.interrupt_response`),
  }
  if (type === undefined || type === 'server_vad')
    return defined({
      type: 'silence' as const,
      ...flags,
      threshold: numberAt(fields['threshold'], `${path}.threshold`),
      prefixMs: numberAt(fields['prefix_padding_ms'], `${path}.prefix_padding_ms`),
      silenceMs: numberAt(fields['silence_duration_ms'], `${path}.silence_duration_ms`),
      idleMs: numberAt(fields['idle_timeout_ms'], `${path}.idle_timeout_ms`),
      extras: extrasOf(fields, KNOWN_SILENCE),
    }) as TurnDetection
  if (typeof type !== 'string' || !type.includes('semantic_vad'))
    throw invalid(
      `Invalid value: '${excerpt(String(type))}'. Supported values are: 'server_vad' and 'semantic_vad'.`,
      path,
    )
  return defined({
    type: 'semantic' as const,
    ...flags,
    eagerness: textAt(fields['eagerness'], `${path}.eagerness`),
    spelling: type === 'semantic_vad' ? undefined : { [REALTIME]: { type } },
    extras: extrasOf(fields, KNOWN_SEMANTIC),
  }) as TurnDetection
}

const KNOWN_SILENCE: ReadonlySet<string> = new Set([
  ...['type', 'create_response', 'interrupt_response', 'threshold', 'prefix_padding_ms', 'silence_duration_ms'],
  'idle_timeout_ms',
])
const KNOWN_SEMANTIC: ReadonlySet<string> = new Set(['type', 'create_response', 'interrupt_response', 'eagerness'])
