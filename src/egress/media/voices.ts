import { type GatewayError, invalid } from '../../canonical/error.ts'
import type { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type VoiceDialect, voiceNamed } from '../../formats/dialects/shared-flags.ts'

export const voiceDialect = (dialect: JsonObject): VoiceDialect => dialect as VoiceDialect

interface VoiceOptions {
  /** Voice for requests without a voice. */
  readonly fallback?: string
  /** Returns true for a voice of the upstream that the channel need not declare. */
  readonly isVoiceId?: (voice: string) => boolean
  /** The model's voices by names that it lacks, for channels that declare no voices. */
  readonly similar?: { readonly [name: string]: string } | undefined
}

/**
 * Returns the upstream's name for the requested voice, or else the default voice of the channel or of the format.
 * Reports any difference. The upstream's own voice ids are accepted even if the channel does not declare them.
 *
 * @throws GatewayError `invalid-request`, with a list of the declared voices, if the requested voice is not one of
 * them.
 */
export function voiceOf(
  { output: { audio } }: CanonicalRequest,
  { voices, default_voice }: VoiceDialect,
  losses: Losses,
  { fallback, isVoiceId, similar = {} }: VoiceOptions = {},
): string | undefined {
  const requested = audio?.voice
  const similarTo = (name: string): string => (Object.hasOwn(similar, name) ? similar[name]! : name)
  if (requested === undefined) {
    const voice = default_voice ?? (fallback === undefined ? undefined : similarTo(fallback))
    if (voice === undefined) return undefined
    if (audio === undefined) losses.add(['output', 'audio'], { voice }, 'minted-voice')
    else losses.add(['output', 'audio', 'voice'], voice, 'minted-voice')
    return voice
  }
  const voice =
    voices === undefined
      ? similarTo(requested)
      : (voiceNamed(voices, requested) ?? (isVoiceId?.(requested) ? requested : undefined))
  if (voice === undefined) throw unknownVoice(requested, Object.keys(voices ?? {}))
  if (voice !== requested) losses.change(['output', 'audio', 'voice'], voice, 'voice-of-the-upstream')
  return voice
}

const unknownVoice = (voice: string, available: readonly string[]): GatewayError =>
  invalid(
    `voice: this model does not have the voice "${voice}"; it has ${available.join(', ')}.`,
    'voice',
    'voice_not_found',
  )
