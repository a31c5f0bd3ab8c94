export const FORMAT = 'images'

const OTHERS: { readonly [outputFormat: string]: string } = { jpg: 'image/jpeg', svg: 'image/svg+xml' }
const OUTPUT_FORMATS: { readonly [type: string]: string } = { 'image/svg+xml': 'svg', 'image/jpg': 'jpeg' }

/** The media type of an output format. */
export const typeOfOutputFormat = (outputFormat: string): string =>
  Object.hasOwn(OTHERS, outputFormat) ? OTHERS[outputFormat]! : `image/${outputFormat}`

/** The output format for a media type; PNG for anything unknown. */
export function outputFormatOfType(mediaType: string): string {
  if (Object.hasOwn(OUTPUT_FORMATS, mediaType)) return OUTPUT_FORMATS[mediaType]!
  const name = mediaType.startsWith('image/') ? mediaType.slice('image/'.length) : ''
  return name === '' ? 'png' : name
}
