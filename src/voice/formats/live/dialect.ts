import type { JsonObject } from '../../../canonical/node.ts'
import type { LiveFlags } from '../../../formats/dialects/live.ts'

/**
 * Deviations of an upstream from the format, according to the flags in the channel's `dialect` or to known model names.
 */
export interface LiveDialect {
  /**
   * Flag `vertex`: true if the upstream is Google Cloud's API, which has a different path and different model names.
   */
  readonly vertex: boolean
  /** `version`: API version in the path. */
  readonly version: string
  /** `voices`: the upstream's voices by the callers' voice names. If set, the upstream has no other voices. */
  readonly voices: { readonly [name: string]: string } | undefined
  /** `default_voice`: the upstream's voice if the caller requests none. */
  readonly defaultVoice: string | undefined
  /** Flag `resumption`: true if a session can continue on a new connection. Otherwise, it ends with its connection. */
  readonly resumption: boolean
  /** Flag `audio_only`: true if the model always speaks. If text is requested, the transcript of the speech is used. */
  readonly audioOnly: boolean
  /** `late_text: realtime`: after the model's first turn, text is accepted only as `realtimeInput`. */
  readonly lateText: 'content' | 'realtime'
  /** Setting for the reasoning effort, or undefined for models without reasoning. */
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

/** Matches models that reject `TEXT` as a response modality. */
const NATIVE_AUDIO = /native-audio/
/** Matches third-generation models, which also reject `clientContent` after their first answer. */
const THIRD_GENERATION = /gemini-3/

/** Returns the path of a session, relative to the channel's base URL. */
export const pathOf = ({ vertex, version }: LiveDialect): string =>
  vertex
    ? `/ws/google.cloud.aiplatform.${version}.LlmBidiService/BidiGenerateContent`
    : `/ws/google.ai.generativelanguage.${version}.GenerativeService.BidiGenerateContent`

/** Returns the resource name of a model. */
export const modelName = (model: string, { vertex }: LiveDialect): string =>
  model.includes('/') ? model : vertex ? `publishers/google/models/${model}` : `models/${model}`
