import type { JsonObject } from '../../canonical/node.ts'
import type { Modality, Output } from '../../canonical/request.ts'
import { defined, kept } from '../fields.ts'
import { FORMAT, type WriteContext } from './content.ts'

const MODALITIES: ReadonlySet<Modality> = new Set<Modality>(['text', 'audio'])

/** The modalities of the answer: text, and audio beside it. */
export function writeModalities({ modalities }: Output, { native, losses }: WriteContext): Output['modalities'] {
  if (native || modalities === undefined) return modalities
  const supported = modalities.filter(modality => MODALITIES.has(modality))
  if (supported.length === 0) losses.drop(['output', 'modalities'], 'text-and-audio-only')
  else
    for (const [index, modality] of modalities.entries())
      if (!MODALITIES.has(modality)) losses.drop(['output', 'modalities', index], 'text-and-audio-only')
  return supported.length === 0 ? undefined : supported
}

/** The value of `format` for each audio type and its aliases. */
const CONTAINERS: { readonly [type: string]: string } = {
  ...{ wav: 'wav', 'x-wav': 'wav', wave: 'wav', mp3: 'mp3', mpeg: 'mp3', aac: 'aac', flac: 'flac', 'x-flac': 'flac' },
  ...{ opus: 'opus', ogg: 'opus', pcm16: 'pcm16', pcm: 'pcm16', l16: 'pcm16' },
}

const USUAL = { voice: 'alloy', mediaType: 'audio/wav' } as const

/** Settings of the model's speech: voice and container are required, so a caller without them gets the defaults. */
export function writeAudio({ audio, modalities }: Output, context: WriteContext): JsonObject | undefined {
  const { native, losses } = context
  if (audio === undefined) {
    if (native || modalities?.includes('audio') !== true) return undefined
    losses.add(['output', 'audio'], USUAL, 'minted-voice')
    return { voice: USUAL.voice, format: 'wav' }
  }
  if (audio.speed !== undefined) losses.drop(['output', 'audio', 'speed'], 'no-speed')
  const format = writeContainer(audio.mediaType, context)
  if (native) return { ...(defined({ voice: audio.voice, format }) as JsonObject), ...kept(audio, FORMAT) }
  if (audio.voice === undefined) losses.add(['output', 'audio', 'voice'], USUAL.voice, 'minted-voice')
  if (format === undefined) losses.add(['output', 'audio', 'mediaType'], USUAL.mediaType, 'minted-container')
  return { voice: audio.voice ?? USUAL.voice, format: format ?? 'wav', ...kept(audio, FORMAT) }
}

function writeContainer(mediaType: string | undefined, { native, losses }: WriteContext): string | undefined {
  const [kind, name = ''] = mediaType?.split('/', 2) ?? []
  if (kind === undefined) return undefined
  if (kind !== 'audio') {
    losses.drop(['output', 'audio', 'mediaType'], 'not-an-audio-type')
    return undefined
  }
  if (native) return name
  const type = name.split(';')[0]!.trim().toLowerCase()
  const container = Object.hasOwn(CONTAINERS, type) ? CONTAINERS[type]! : undefined
  if (container === undefined) losses.drop(['output', 'audio', 'mediaType'], 'no-such-container')
  else if (container !== name)
    losses.rename(['output', 'audio', 'mediaType'], `audio/${container}`, 'another-word-for-it')
  return container
}
