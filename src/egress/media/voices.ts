import { GatewayError } from '../../canonical/error.ts'
import type { Losses } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'

/** What a channel says of its upstream's voices. */
export interface VoiceDialect {
  /** Callers' names for voices, and the upstream's own; where they are declared, nobody is given any other. */
  readonly voices?: { readonly [name: string]: string }
  /** The upstream's name of the voice that speaks where a caller asks for none. */
  readonly default_voice?: string
}

/**
 * The upstream's name of the voice that was asked for, or of its usual one (`usual` where the channel names none);
 * what differs is reported. `isOwn` tells names the upstream surely takes, whatever is declared.
 *
 * @throws GatewayError `invalid-request` for a voice that is not among those declared, listing them.
 */
export function voiceOf(
  { output: { audio } }: CanonicalRequest,
  { voices, default_voice }: VoiceDialect,
  losses: Losses,
  { usual, isOwn }: { readonly usual?: string; readonly isOwn?: (voice: string) => boolean } = {},
): string | undefined {
  const asked = audio?.voice
  if (asked === undefined) {
    const voice = default_voice ?? usual
    if (voice === undefined) return undefined
    if (audio === undefined) losses.add(['output', 'audio'], { voice }, 'voice-required')
    else losses.add(['output', 'audio', 'voice'], voice, 'voice-required')
    return voice
  }
  if (voices === undefined) return asked
  const voice = Object.hasOwn(voices, asked) ? voices[asked]! : asked
  if (voice === asked && !Object.hasOwn(voices, asked) && !Object.values(voices).includes(asked) && !isOwn?.(asked))
    throw unknownVoice(asked, Object.keys(voices))
  if (voice !== asked) losses.change(['output', 'audio', 'voice'], voice, 'voice-of-the-upstream')
  return voice
}

const unknownVoice = (voice: string, known: readonly string[]): GatewayError =>
  new GatewayError({
    kind: 'invalid-request',
    message: `voice: this model does not have the voice "${voice}"; it has ${known.join(', ')}.`,
    param: 'voice',
    code: 'voice_not_found',
  })
