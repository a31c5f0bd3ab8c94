import { Budget } from '../../../canonical/budget.ts'
import { defined, isObject, type Json, type JsonObject } from '../../../canonical/node.ts'
import { narrowed, openApiOf } from '../../../canonical/openapi-schema.ts'
import type { Effort } from '../../../canonical/request.ts'
import type { FunctionTool, HostedKind, Tool } from '../../../canonical/tool.ts'
import type { TurnDetection, VoiceSessionSettings } from '../../../canonical/voice-session.ts'
import { voiceNamed } from '../../../formats/dialects/shared-flags.ts'
import { type LiveDialect, modelName } from './dialect.ts'

/** Returns true if the model speaks. If both text and audio are requested, the transcript serves as the text. */
export const speaks = ({ modalities }: VoiceSessionSettings): boolean =>
  modalities === undefined || modalities.length === 0 || modalities.includes('audio')

/** Writes the `setup` message without its resumption handle. The setup of a connection never changes. */
export function writeSetup(settings: VoiceSessionSettings, model: string, dialect: LiveDialect): JsonObject {
  if (dialect.transcribes) return writeTranscriberSetup(settings, model, dialect)
  const isSpoken = speaks(settings) || dialect.audioOnly
  const { instructions, input } = settings
  return defined({
    model: modelName(model, dialect),
    generationConfig: defined({
      responseModalities: [isSpoken ? 'AUDIO' : 'TEXT'],
      temperature: settings.temperature,
      maxOutputTokens: settings.maxTokens === 'unlimited' ? undefined : settings.maxTokens,
      speechConfig: isSpoken ? speech(settings, dialect) : undefined,
      thinkingConfig: thinking(settings, dialect),
    }),
    systemInstruction: instructions ? { parts: [{ text: instructions }] } : undefined,
    tools: tools(settings, dialect),
    realtimeInputConfig: realtimeInput(input?.turnDetection),
    inputAudioTranscription: input?.transcription ? transcription(input.transcription.language) : undefined,
    outputAudioTranscription: isSpoken ? {} : undefined,
    // Without compression, a session with audio ends after 15 minutes, even across connections.
    contextWindowCompression: { slidingWindow: {} },
  }) as JsonObject
}

/** Writes the setup of a model that only transcribes, and that refuses everything else. */
const writeTranscriberSetup = ({ input }: VoiceSessionSettings, model: string, dialect: LiveDialect): JsonObject =>
  defined({
    model: modelName(model, dialect),
    generationConfig: { responseModalities: ['TEXT'] },
    realtimeInputConfig: realtimeInput(input?.turnDetection),
    inputAudioTranscription: transcription(input?.transcription?.language),
  }) as JsonObject

const transcription = (language: string | undefined): JsonObject =>
  language === undefined ? {} : { languageCodes: [language] }

function speech({ output }: VoiceSessionSettings, dialect: LiveDialect): JsonObject | undefined {
  const voiceName = voiceOf(output?.voice, dialect)
  return voiceName === undefined ? undefined : { voiceConfig: { prebuiltVoiceConfig: { voiceName } } }
}

/** Returns the upstream's name for a voice, or undefined for the upstream's default voice. */
export function voiceOf(voice: string | undefined, { voices, defaultVoice }: LiveDialect): string | undefined {
  if (voice === undefined) return defaultVoice
  return voices === undefined ? voice : (voiceNamed(voices, voice) ?? defaultVoice)
}

function thinking({ reasoning }: VoiceSessionSettings, dialect: LiveDialect): JsonObject | undefined {
  const { effort, budget } = reasoning ?? {}
  if (dialect.thinking === undefined) return undefined
  if (dialect.thinking === 'required') return { thinkingLevel: requiredLevel(effort) }
  if (effort === undefined) return budget === undefined ? undefined : { thinkingBudget: budget }
  return dialect.thinking === 'level' ? { thinkingLevel: LEVELS[effort] } : { thinkingBudget: BUDGETS[effort] }
}

const LEVELS: { readonly [E in Effort]: string } = {
  ...{ none: 'MINIMAL', minimal: 'MINIMAL', low: 'LOW', medium: 'MEDIUM' },
  ...{ high: 'HIGH', xhigh: 'HIGH', max: 'HIGH' },
}
const BUDGETS: { readonly [E in Effort]: number } = {
  ...{ none: 0, minimal: 1024, low: 1024, medium: 8192, high: 24_576, xhigh: 24_576, max: 24_576 },
}

/** Returns the level for a model that always reasons, whose lowest one is `LOW`. */
function requiredLevel(effort: Effort = 'low'): string {
  const level = LEVELS[effort]
  return level === 'MINIMAL' ? 'LOW' : level
}

/**
 * Writes the tools. If the tool choice is `none`, no tools are written, because the format has no other way to express
 * it.
 */
function tools({ tools: list = [], toolChoice }: VoiceSessionSettings, dialect: LiveDialect): JsonObject[] | undefined {
  if (toolChoice?.mode === 'none') return undefined
  const budget = new Budget()
  const functionDeclarations = list.flatMap(tool => declaration(tool, budget, dialect))
  const hostedTools = list.flatMap(one => (one.type === 'hosted' ? [{ [HOSTED[one.kind]]: {} }] : []))
  const allTools = functionDeclarations.length === 0 ? hostedTools : [{ functionDeclarations }, ...hostedTools]
  return allTools.length === 0 ? undefined : allTools
}

const HOSTED: { readonly [K in HostedKind]: string } = {
  'web-search': 'googleSearch',
  'web-fetch': 'urlContext',
  'code-execution': 'codeExecution',
}

const declaration = (tool: Tool, budget: Budget, { calls }: LiveDialect): JsonObject[] =>
  tool.type === 'function'
    ? [
        defined({
          name: tool.name,
          description: tool.description,
          parameters: parameters(tool, budget),
          behavior: BEHAVIORS[calls],
        }) as JsonObject,
      ]
    : []

/** Callers expect a model to wait for the results of its calls, if it can. */
const BEHAVIORS: { readonly [C in LiveDialect['calls']]: string | undefined } = {
  blocking: undefined,
  declared: 'BLOCKING',
  asynchronous: 'NON_BLOCKING',
}

/**
 * Writes the schema of a function's arguments as `parameters`, because sessions ignore `parametersJsonSchema`. An object
 * without properties is refused.
 */
function parameters({ parameters: schema }: FunctionTool, budget: Budget): JsonObject | undefined {
  if (schema === undefined) return undefined
  const subset = narrowed(schema, budget)
  return subset['type'] === 'object' && !hasFields(subset['properties']) ? undefined : openApiOf(subset)
}

const hasFields = (value: Json | undefined): boolean => isObject(value) && Object.keys(value).length > 0

function realtimeInput(detection: TurnDetection | null | undefined): JsonObject | undefined {
  if (detection === null) return { automaticActivityDetection: { disabled: true } }
  if (detection === undefined) return undefined
  const automatic = defined(
    detection.type === 'silence'
      ? {
          startOfSpeechSensitivity: startSensitivity(detection.threshold),
          silenceDurationMs: detection.silenceMs,
        }
      : { endOfSpeechSensitivity: END_SENSITIVITY[detection.eagerness ?? ''] },
  )
  const fields = defined({
    automaticActivityDetection: Object.keys(automatic).length === 0 ? undefined : (automatic as JsonObject),
    activityHandling: detection.interrupt === false ? 'NO_INTERRUPTION' : undefined,
  })
  return Object.keys(fields).length === 0 ? undefined : fields
}

/** OpenAI's default threshold. */
export const DEFAULT_THRESHOLD = 0.5

const startSensitivity = (threshold = DEFAULT_THRESHOLD): string | undefined =>
  threshold === DEFAULT_THRESHOLD
    ? undefined
    : threshold < DEFAULT_THRESHOLD
      ? 'START_SENSITIVITY_HIGH'
      : 'START_SENSITIVITY_LOW'

const END_SENSITIVITY: { readonly [eagerness: string]: string } = {
  low: 'END_SENSITIVITY_LOW',
  high: 'END_SENSITIVITY_HIGH',
}
