import { rowOf } from '../../canonical/maps.ts'

/** Types that Google knows by another name only: "Unsupported MIME type: image/jpg" (docs/wire/contents.md#parts). */
const SYNONYMS: { readonly [mediaType: string]: string } = { 'image/jpg': 'image/jpeg' }

/**
 * Matches images that Gemini refuses, also in later requests of the conversation: "Unsupported MIME type: image/gif"
 * (Mai-with-u/MaiBot#1435, microsoft/vscode#286628; bmp: google-gemini/gemini-cli#14838; tiff: googleapis/js-genai#862;
 * read on 2026-12-01).
 */
const REFUSED_IMAGES = /^image\/(?:gif|bmp|x-ms-bmp|tiff|svg\+xml)$/i

/** Returns true if Gemini takes no images of this type. */
export const isRefusedByGoogle = (mediaType: string): boolean => REFUSED_IMAGES.test(mediaType)

/** Returns the only name by which Google knows a media type, or undefined if it knows the type as it is. */
export const googleTypeOf = (mediaType: string): string | undefined => rowOf(SYNONYMS, mediaType.toLowerCase())
