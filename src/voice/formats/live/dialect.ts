import type { JsonObject } from '../../../canonical/node.ts'
import type { LiveFlags } from '../../../formats/dialects/live.ts'

/**
 * Differences of an upstream's version of the format, from the flags of the channel's `dialect` or from known model
 * names.
 */
export interface LiveDialect {
  /** Flag `vertex`: whether the upstream is Google Cloud's API, with its own path and model names. */
  readonly vertex: boolean
  /** `version`: API version in the path. */
  readonly version: string
  /** `voices`: the upstream's voice for each of the callers' voice names. If set, the upstream has no other voices. */
  readonly voices: { readonly [name: string]: string } | undefined
  /** `default_voice`: the upstream's voice if none is requested. */
  readonly defaultVoice: string | undefined
  /** Flag `resumption`: whether a session can continue on a new connection. If false, it ends with its connection. */
  readonly resumption: boolean
  /** Flag `audio_only`: whether the model always speaks, so that requested text is the transcript of its speech. */
  readonly audioOnly: boolean
  /** `late_text: realtime`: after the model's first turn, text is accepted only as `realtimeInput`. */
  readonly lateText: 'content' | 'realtime'
  /** How the reasoning effort is set. Undefined for models without reasoning. */
  readonly thinking: 'level' | 'budget' | undefined
}

export function readDialect(dialect: JsonObject, model: string): LiveDialect {
  const { vertex, version, voices, default_voice, resumption, audio_only, late_text } = dialect as LiveFlags
  const isThirdGeneration = THIRD_GENERATION.test(model)
  return {
    vertex: vertex === true,
    version: typeof version === 'string' ? version : vertex === true ? 'v1beta1' : 'v1beta',
    voices,
    defaultVoice: typeof default_voice === 'string' ? default_voice : undefined,
    resumption: resumption !== false,
    audioOnly: typeof audio_only === 'boolean' ? audio_only : isThirdGeneration || NATIVE_AUDIO.test(model),
    lateText: late_text === 'realtime' || (isThirdGeneration && late_text !== 'content') ? 'realtime' : 'content',
    thinking: isThirdGeneration ? 'level' : NATIVE_AUDIO.test(model) ? 'budget' : undefined,
  }
}

/** Models that reject `TEXT` as a response modality. */
const NATIVE_AUDIO = /native-audio/
/** Third-generation models, which also reject `clientContent` once they have answered. */
const THIRD_GENERATION = /gemini-3/

/** The path of a session relative to the channel's base URL. */
export const pathOf = ({ vertex, version }: LiveDialect): string =>
  vertex
    ? `/ws/google.cloud.aiplatform.${version}.LlmBidiService/BidiGenerateContent`
    : `/ws/google.ai.generativelanguage.${version}.GenerativeService.BidiGenerateContent`

/** The resource name of a model. */
export const modelName = (model: string, { vertex }: LiveDialect): string =>
  model.includes('/') ? model : vertex ? `publishers/google/models/${model}` : `models/${model}`
