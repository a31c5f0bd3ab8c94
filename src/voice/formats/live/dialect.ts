import type { JsonObject } from '../../../canonical/node.ts'

/** How an upstream's version of the format differs; the flags of a channel's `dialect`, or what models are known for. */
export interface LiveDialect {
  /** `vertex`: Google's cloud surface, another path and other names of models. */
  readonly vertex: boolean
  /** `version` of the API in the path. */
  readonly version: string
  /** `voices`: callers' names for voices and the upstream's own; where it is given, there is no other. */
  readonly voices: { readonly [name: string]: string } | undefined
  /** `default_voice`: the upstream's voice where none is requested. */
  readonly defaultVoice: string | undefined
  /** `resumption: false`: sessions end with their connection. */
  readonly resumption: boolean
  /** `audio_only`: the model only speaks, so a requested text is the transcript of its speech. */
  readonly audioOnly: boolean
  /** `late_text: realtime`: after the model's first turn, text is taken as `realtimeInput` alone. */
  readonly lateText: 'content' | 'realtime'
  /** How the depth of thought is set; undefined for models that do not think. */
  readonly thinking: 'level' | 'budget' | undefined
}

export function readDialect(flags: JsonObject, model: string): LiveDialect {
  const { vertex, version, voices, default_voice, resumption, audio_only, late_text } = flags
  const isThird = THIRD.test(model)
  return {
    vertex: vertex === true,
    version: typeof version === 'string' ? version : vertex === true ? 'v1beta1' : 'v1beta',
    voices: voices as LiveDialect['voices'],
    defaultVoice: typeof default_voice === 'string' ? default_voice : undefined,
    resumption: resumption !== false,
    audioOnly: typeof audio_only === 'boolean' ? audio_only : isThird || NATIVE_AUDIO.test(model),
    lateText: late_text === 'realtime' || (isThird && late_text !== 'content') ? 'realtime' : 'content',
    thinking: isThird ? 'level' : NATIVE_AUDIO.test(model) ? 'budget' : undefined,
  }
}

/** Models that refuse `TEXT` as a modality of their answers. */
const NATIVE_AUDIO = /native-audio/
/** The third generation refuses `clientContent` once it has answered, too. */
const THIRD = /gemini-3/

/** The path of a session below the channel's address. */
export const pathOf = ({ vertex, version }: LiveDialect): string =>
  vertex
    ? `/ws/google.cloud.aiplatform.${version}.LlmBidiService/BidiGenerateContent`
    : `/ws/google.ai.generativelanguage.${version}.GenerativeService.BidiGenerateContent`

/** A model's resource name. */
export const modelName = (model: string, { vertex }: LiveDialect): string =>
  model.includes('/') ? model : vertex ? `publishers/google/models/${model}` : `models/${model}`
