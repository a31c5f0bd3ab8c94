export const FORMAT = 'images'

const OTHERS: { readonly [word: string]: string } = { jpg: 'image/jpeg', svg: 'image/svg+xml' }
const WORDS: { readonly [type: string]: string } = { 'image/svg+xml': 'svg', 'image/jpg': 'jpeg' }

/** What the format's word for a kind of picture is read back as. */
export const typeOfWord = (word: string): string => (Object.hasOwn(OTHERS, word) ? OTHERS[word]! : `image/${word}`)

/** The format's word for a kind of picture; PNG is what anything else is taken for. */
export function wordOfType(mediaType: string): string {
  if (Object.hasOwn(WORDS, mediaType)) return WORDS[mediaType]!
  const word = mediaType.startsWith('image/') ? mediaType.slice('image/'.length) : ''
  return word === '' ? 'png' : word
}
