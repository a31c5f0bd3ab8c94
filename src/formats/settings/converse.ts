import { settingsOf } from '../../canonical/settings.ts'
import type { HostedKind } from '../../canonical/tool.ts'

/** Settings in `inferenceConfig` (docs/wire/converse.md#request). */
export const SETTINGS = settingsOf({ maxTokens: 'maxTokens', temperature: 'temperature', topP: 'topP' }, [
  ...(['maxTokens', 'temperature', 'topP', 'topK', 'candidates'] as const),
  ...(['parallelToolCalls', 'metadata', 'serviceTier'] as const),
])

/** Names of the system tools, which models run themselves (docs/wire/converse.md#tools). */
export const SYSTEM_TOOLS: { readonly [K in HostedKind]?: string } = {
  'web-search': 'nova_grounding',
  'code-execution': 'nova_code_interpreter',
}

/*
 * Names of file formats in Converse, by media type (docs/wire/converse.md#media). Writers use the first name of a media
 * type, readers accept all of them.
 */

const FORMATS: readonly (readonly [format: string, mediaType: string])[] = [
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['pdf', 'application/pdf'],
  ['csv', 'text/csv'],
  ['doc', 'application/msword'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xls', 'application/vnd.ms-excel'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['html', 'text/html'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
]

const VIDEO_FORMATS: typeof FORMATS = [
  ['mp4', 'video/mp4'],
  ['mkv', 'video/x-matroska'],
  ['mov', 'video/quicktime'],
  ['webm', 'video/webm'],
  ['flv', 'video/x-flv'],
  ['mpeg', 'video/mpeg'],
  ['mpg', 'video/mpeg'],
  ['wmv', 'video/x-ms-wmv'],
  ['three_gp', 'video/3gpp'],
]

const AUDIO_FORMATS: typeof FORMATS = [
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['ogg', 'audio/ogg'],
  ['opus', 'audio/opus'],
  ['aac', 'audio/aac'],
  ['mp4', 'audio/mp4'],
  ['m4a', 'audio/mp4'],
  ['webm', 'audio/webm'],
]

/** Kinds of media in Converse. */
export type ConverseMedia = 'image' | 'document' | 'video' | 'audio'

const FORMATS_BY_KIND: { readonly [K in ConverseMedia]: typeof FORMATS } = {
  image: FORMATS.filter(([, type]) => type.startsWith('image/')),
  document: FORMATS.filter(([, type]) => !type.startsWith('image/')),
  video: VIDEO_FORMATS,
  audio: AUDIO_FORMATS,
}

/** Top-level types for media types of unknown formats. */
const TOP_LEVEL_TYPES: { readonly [K in ConverseMedia]: string } = {
  image: 'image',
  document: 'application',
  video: 'video',
  audio: 'audio',
}

/** Returns the media type of a format. An unknown format becomes a media type with the same name. */
export const mediaTypeOf = (kind: ConverseMedia, format: string): string =>
  FORMATS_BY_KIND[kind].find(([name]) => name === format)?.[1] ?? `${TOP_LEVEL_TYPES[kind]}/${format}`

/** Returns the format of a media type, or undefined if Converse has none. */
export const formatOf = (kind: ConverseMedia, mediaType: string): string | undefined =>
  FORMATS_BY_KIND[kind].find(([, type]) => type === mediaType)?.[0]
