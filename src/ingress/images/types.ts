/** The format's word for a kind of picture, as a media type. */
export const typeOfWord = (word: string): string => (Object.hasOwn(OTHERS, word) ? OTHERS[word]! : `image/${word}`)

const OTHERS: { readonly [word: string]: string } = { jpg: 'image/jpeg', svg: 'image/svg+xml' }
