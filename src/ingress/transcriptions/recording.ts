import { HeldBytes } from '../../canonical/bytes.ts'
import type { MediaPart } from '../../canonical/content.ts'
import { kindOfMediaType } from '../../canonical/media/data-url.ts'
import { sniffed } from '../../canonical/media/sniff.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { defined } from '../fields.ts'

/**
 * A form's file as a recording. Many clients declare bytes or text for any file: its name or first bytes decide then.
 */
export function readRecording({ name, mediaType: claimed, bytes }: WireFile): MediaPart {
  const mediaType = mediaTypeOf(name, claimed, bytes)
  return {
    type: 'media',
    kind: kindOfMediaType(mediaType) === 'video' ? 'video' : 'audio',
    source: { type: 'bytes', mediaType, bytes },
    ...defined({ name }),
    ...(mediaType === claimed ? {} : { spelling: { transcriptions: { claimed } } }),
  }
}

function mediaTypeOf(name: string | undefined, claimed: string, bytes: WireFile['bytes']): string {
  if (isAudible(claimed)) return claimed
  const extension = /\.(\w+)$/.exec(name ?? '')?.[1]?.toLowerCase() ?? ''
  if (Object.hasOwn(BY_EXTENSION, extension)) return BY_EXTENSION[extension]!
  const detected = bytes instanceof HeldBytes ? sniffed(bytes.bytes) : undefined
  return detected !== undefined && isAudible(detected) ? detected : claimed
}

const isAudible = (mediaType: string): boolean => ['audio', 'video'].includes(kindOfMediaType(mediaType))

const BY_EXTENSION: { readonly [extension: string]: string } = {
  ...{ mp3: 'audio/mpeg', mpga: 'audio/mpeg', mpeg: 'audio/mpeg', m4a: 'audio/mp4', wav: 'audio/wav' },
  ...{ flac: 'audio/flac', ogg: 'audio/ogg', oga: 'audio/ogg', opus: 'audio/ogg', aac: 'audio/aac' },
  ...{ webm: 'audio/webm', mp4: 'video/mp4' },
}
