import { type GatewayError, invalid } from '../../canonical/error.ts'
import type { Losses } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'

/** A channel's settings of its upstream's voices. */
export interface VoiceDialect {
  /** Callers' names for voices, and the upstream's; where they are declared, no other voice is available. */
  readonly voices?: { readonly [name: string]: string }
  /** The upstream's name of the voice for requests without one. */
  readonly default_voice?: string
}

/**
 * The upstream's name of the requested voice, or of its default (`usual` where the channel declares none); differences
 * are reported. `isOwn` matches names that the upstream takes whatever is declared.
 *
 * @throws GatewayError `invalid-request` for a voice that is not among those declared, listing them.
 */
export function voiceOf(
  { output: { audio } }: CanonicalRequest,
  { voices, default_voice }: VoiceDialect,
  losses: Losses,
  { usual, isOwn }: { readonly usual?: string; readonly isOwn?: (voice: string) => boolean } = {},
): string | undefined {
  const requested = audio?.voice
  if (requested === undefined) {
    const voice = default_voice ?? usual
    if (voice === undefined) return undefined
    if (audio === undefined) losses.add(['output', 'audio'], { voice }, 'minted-voice')
    else losses.add(['output', 'audio', 'voice'], voice, 'minted-voice')
    return voice
  }
  if (voices === undefined) return requested
  const voice = Object.hasOwn(voices, requested) ? voices[requested]! : requested
  if (
    voice === requested &&
    !Object.hasOwn(voices, requested) &&
    !Object.values(voices).includes(requested) &&
    !isOwn?.(requested)
  )
    throw unknownVoice(requested, Object.keys(voices))
  if (voice !== requested) losses.change(['output', 'audio', 'voice'], voice, 'voice-of-the-upstream')
  return voice
}

const unknownVoice = (voice: string, available: readonly string[]): GatewayError =>
  invalid(
    `voice: this model does not have the voice "${voice}"; it has ${available.join(', ')}.`,
    'voice',
    'voice_not_found',
  )
