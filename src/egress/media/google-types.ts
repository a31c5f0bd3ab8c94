import { rowOf } from '../../canonical/maps.ts'

/** Types that Google knows by another name only: "Unsupported MIME type: image/jpg" (docs/wire/contents.md#parts). */
const SYNONYMS: { readonly [mediaType: string]: string } = { 'image/jpg': 'image/jpeg' }

/** Returns the only name by which Google knows a media type, or undefined if it knows the type as it is. */
export const googleTypeOf = (mediaType: string): string | undefined => rowOf(SYNONYMS, mediaType.toLowerCase())
