import { foreignLosses, type Loss, Losses, type Path } from '../../canonical/loss.ts'
import type { InputSettings, VoiceSessionSettings } from '../../canonical/voice-session.ts'
import type { ClientEvent } from '../../canonical/voice-session-event.ts'

/** Name that no format has, so that every format-specific field is reported as lost. */
const NO_FORMAT = 'cascade'

/**
 * Returns the losses of a client event: fields without an equivalent in the three requests of a turn. Losses at the
 * upstreams are reported by the requests themselves.
 *
 * @param transcription the model for transcriptions.
 */
export function lossesOf(event: ClientEvent, transcription: string): readonly Loss[] {
  if (event.type !== 'session-update' && event.type !== 'response-create' && event.type !== 'item-create') return []
  const losses = new Losses()
  losses.report(foreignLosses(event, NO_FORMAT))
  if (event.type !== 'item-create' && event.settings !== undefined)
    ofSettings(event.settings, ['settings'], transcription, losses)
  return losses.list
}

function ofSettings(
  { input, modalities }: VoiceSessionSettings,
  path: Path,
  transcription: string,
  losses: Losses,
): void {
  if (modalities?.some(one => one !== 'text' && one !== 'audio') === true)
    losses.drop([...path, 'modalities'], 'text-and-audio-only')
  if (input !== undefined) ofInput(input, [...path, 'input'], transcription, losses)
}

function ofInput(input: InputSettings, path: Path, transcription: string, losses: Losses): void {
  const { turnDetection, noiseReduction, transcription: wanted } = input
  if (noiseReduction != null) losses.drop([...path, 'noiseReduction'], 'no-noise-reduction')
  if (wanted?.model !== undefined && wanted.model !== transcription)
    losses.change([...path, 'transcription', 'model'], transcription, 'model-of-the-cascade')
  if (turnDetection?.type === 'semantic')
    losses.change([...path, 'turnDetection', 'type'], 'silence', 'turns-by-silence')
  if (turnDetection?.type === 'silence' && turnDetection.idleMs !== undefined)
    losses.drop([...path, 'turnDetection', 'idleMs'], 'no-response-to-silence')
}
