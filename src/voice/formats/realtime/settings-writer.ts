import { defined, type Json, type JsonObject, type Node } from '../../../canonical/node.ts'
import type { Tool, ToolChoice } from '../../../canonical/tool.ts'
import type { TurnDetection, VoiceSessionSettings } from '../../../canonical/voice-session.ts'
import { betaFormatName, gaFormat, modalitiesIn, REALTIME } from './wire.ts'

/** Layout of a session's fields: GA, beta, or xAI's mixture of both. */
export type Layout = 'ga' | 'beta' | 'mixed'

/** Writes settings as the fields of a `session` or `response` object. Unset settings are absent. */
export function writeSettings(settings: VoiceSessionSettings, layout: Layout): JsonObject {
  const common = defined({
    model: settings.model,
    instructions: settings.instructions,
    tools: settings.tools?.flatMap(writeTool),
    tool_choice: settings.toolChoice === undefined ? undefined : writeToolChoice(settings.toolChoice),
    parallel_tool_calls: settings.parallelToolCalls,
    ...nativeExtras(settings),
  })
  return { ...common, ...LAYOUTS[layout](settings) } as JsonObject
}

const LAYOUTS: { readonly [L in Layout]: (settings: VoiceSessionSettings) => JsonObject } = {
  ga: settings => {
    const audio = defined({ input: gaInput(settings, true), output: gaOutput(settings, true) })
    return plain({
      output_modalities: settings.modalities && modalitiesIn(settings.modalities, 'ga'),
      max_output_tokens: maxTokens(settings),
      reasoning: reasoning(settings),
      audio: Object.keys(audio).length === 0 ? undefined : audio,
    })
  },
  beta: settings =>
    plain({
      modalities: settings.modalities && modalitiesIn(settings.modalities, 'beta'),
      max_response_output_tokens: maxTokens(settings),
      temperature: settings.temperature,
      input_audio_format: settings.input?.format && betaFormatName(settings.input.format),
      output_audio_format: settings.output?.format && betaFormatName(settings.output.format),
      input_audio_transcription: transcription(settings, 'language'),
      input_audio_noise_reduction: noiseReduction(settings),
      ...topLevel(settings),
      speed: settings.output?.speed,
    }),
  mixed: settings => {
    const audio = defined({ input: gaInput(settings, false), output: gaOutput(settings, false) })
    return plain({
      ...topLevel({ ...settings, ...(settings.input === undefined ? {} : { input: silenceOnly(settings.input) }) }),
      temperature: settings.temperature,
      reasoning: reasoning(settings),
      audio: Object.keys(audio).length === 0 ? undefined : audio,
    })
  },
}

const plain = (fields: object): JsonObject => defined(fields as JsonObject) as JsonObject

const topLevel = ({ input, output }: Pick<VoiceSessionSettings, 'input' | 'output'>): object => ({
  voice: voiceOf(output),
  turn_detection: turnDetection(input?.turnDetection),
})

const nativeExtras = ({ extras }: Node): JsonObject => extras?.[REALTIME] ?? {}

const reasoning = ({ reasoning: effort }: VoiceSessionSettings): Json | undefined =>
  effort?.effort === undefined ? undefined : { effort: effort.effort }

const maxTokens = ({ maxTokens: most }: VoiceSessionSettings): Json | undefined => (most === 'unlimited' ? 'inf' : most)

const voiceOf = (output: VoiceSessionSettings['output']): Json | undefined =>
  output?.spelling?.[REALTIME]?.['voice'] ?? output?.voice

function gaInput(settings: VoiceSessionSettings, isComplete: boolean): JsonObject | undefined {
  const { input } = settings
  if (input === undefined) return undefined
  const fields = plain({
    format: input.format && gaFormat(input.format),
    transcription: transcription(settings, isComplete ? 'language' : 'language_hint'),
    noise_reduction: isComplete ? noiseReduction(settings) : undefined,
    turn_detection: isComplete ? turnDetection(input.turnDetection) : undefined,
    ...nativeExtras(input),
  })
  return Object.keys(fields).length === 0 ? undefined : fields
}

function gaOutput({ output }: VoiceSessionSettings, isComplete: boolean): JsonObject | undefined {
  if (output === undefined) return undefined
  const fields = plain({
    format: output.format && gaFormat(output.format),
    voice: isComplete ? voiceOf(output) : undefined,
    speed: output.speed,
    ...nativeExtras(output),
  })
  return Object.keys(fields).length === 0 ? undefined : fields
}

/** Writes the transcription. xAI names its language `language_hint`, and has no prompt. */
function transcription({ input }: VoiceSessionSettings, languageField: 'language' | 'language_hint'): Json | undefined {
  const value = input?.transcription
  if (value === undefined || value === null) return value
  const prompt = languageField === 'language' ? value.prompt : undefined
  return plain({ model: value.model, [languageField]: value.language, prompt, ...nativeExtras(value) })
}

/** Returns the input with detection by silence in place of detection by meaning, which xAI lacks. */
function silenceOnly(input: NonNullable<VoiceSessionSettings['input']>): NonNullable<VoiceSessionSettings['input']> {
  if (input.turnDetection?.type !== 'semantic') return input
  const { eagerness: _, spelling: _spelling, ...others } = input.turnDetection
  return { ...input, turnDetection: { ...others, type: 'silence' } }
}

function noiseReduction({ input }: VoiceSessionSettings): Json | undefined {
  const value = input?.noiseReduction
  return value === undefined || value === null ? value : { type: value }
}

function turnDetection(value: TurnDetection | null | undefined): Json | undefined {
  if (value === undefined || value === null) return value
  const flags = { create_response: value.respond, interrupt_response: value.interrupt, ...nativeExtras(value) }
  if (value.type === 'semantic')
    return plain({
      type: value.spelling?.[REALTIME]?.['type'] ?? 'semantic_vad',
      eagerness: value.eagerness,
      ...flags,
    })
  return plain({
    type: 'server_vad',
    threshold: value.threshold,
    prefix_padding_ms: value.prefixMs,
    silence_duration_ms: value.silenceMs,
    idle_timeout_ms: value.idleMs,
    ...flags,
  })
}

/** Writes a tool. Tools that the format lacks are omitted, and the client writer reports them as losses. */
function writeTool(tool: Tool): JsonObject[] {
  if (tool.type === 'opaque') return tool.format === REALTIME ? [tool.value] : []
  if (tool.type !== 'function') return []
  return [
    plain({
      type: 'function',
      name: tool.name,
      description: tool.description,
      parameters: tool.parameters,
      ...nativeExtras(tool),
    }),
  ]
}

function writeToolChoice({ mode, only, extras }: ToolChoice): Json {
  const nativeChoice = extras?.[REALTIME]?.['tool_choice']
  if (nativeChoice !== undefined) return nativeChoice
  return mode === 'required' && only?.length === 1 ? { type: 'function', name: only[0]! } : mode
}
