import { rowOf } from '../../../canonical/maps.ts'
import type { Modality } from '../../../canonical/request.ts'
import { ALAW, type AudioFormat, MULAW } from '../../../canonical/voice-session.ts'

/** The format's name in routing, `extras` and opaque parts. */
export const REALTIME = 'realtime'

/**
 * Generation of event and field names: the generally available version (`ga`), or the beta (`OpenAI-Beta:
 * realtime=v1`).
 */
export type Naming = 'ga' | 'beta'

/** Event names that differ between the generations. The GA name comes first. Readers accept both. */
const TYPE_NAMES: readonly (readonly [ga: string, beta: string])[] = [
  ['response.output_text.delta', 'response.text.delta'],
  ['response.output_text.done', 'response.text.done'],
  ['response.output_audio.delta', 'response.audio.delta'],
  ['response.output_audio.done', 'response.audio.done'],
  ['response.output_audio_transcript.delta', 'response.audio_transcript.delta'],
  ['response.output_audio_transcript.done', 'response.audio_transcript.done'],
  ['conversation.item.added', 'conversation.item.created'],
]

const BETA: ReadonlyMap<string, string> = new Map(TYPE_NAMES)
const GA: ReadonlyMap<string, string> = new Map(
  TYPE_NAMES.filter(([ga]) => ga !== 'conversation.item.added').map(([ga, beta]) => [beta, ga]),
)

/** Returns an event's name in the given generation. */
export const eventName = (ga: string, naming: Naming): string => (naming === 'beta' ? (BETA.get(ga) ?? ga) : ga)

/** Returns the GA name of an event. `conversation.item.created` exists in both generations and stays unchanged. */
export const gaName = (name: string): string => GA.get(name) ?? name

/**
 * Returns the output modalities in canonical form. Speech is just `audio`, because its transcript is part of it. GA
 * allows `["audio"]` or `["text"]`, the beta allows `["text", "audio"]` or `["text"]`.
 */
export const canonicalModalities = (modalities: readonly Modality[]): readonly Modality[] =>
  modalities.includes('audio') ? ['audio'] : modalities

/** Returns output modalities in the form of the given generation. */
export const modalitiesIn = (modalities: readonly Modality[], naming: Naming): readonly Modality[] =>
  naming === 'beta' && modalities.includes('audio') ? ['text', 'audio'] : canonicalModalities(modalities)

/** Audio formats by their beta names. */
const BETA_FORMATS: { readonly [name: string]: AudioFormat } = {
  pcm16: { encoding: 'pcm16', rate: 24_000 },
  g711_ulaw: MULAW,
  g711_alaw: ALAW,
}

export const betaFormat = (name: string): AudioFormat | undefined => rowOf(BETA_FORMATS, name)

const GA_TYPES = { pcm16: 'audio/pcm', mulaw: 'audio/pcmu', alaw: 'audio/pcma' } as const
const BETA_TYPES = { pcm16: 'pcm16', mulaw: 'g711_ulaw', alaw: 'g711_alaw' } as const

/** Returns an audio format in the form of a GA session. */
export const gaFormat = ({ encoding, rate }: AudioFormat) => ({
  type: GA_TYPES[encoding],
  ...(encoding === 'pcm16' ? { rate } : {}),
})

export const betaFormatName = ({ encoding }: AudioFormat): string => BETA_TYPES[encoding]

/** The media type of audio inside items. */
export const mediaTypeOf = (format: AudioFormat): string =>
  format.encoding === 'pcm16' ? `audio/pcm;rate=${format.rate}` : GA_TYPES[format.encoding]
