/** The format's word for a kind of picture, as a media type. */
export const typeOfWord = (word: string): string => OTHERS[word] ?? `image/${word}`

const OTHERS: { readonly [word: string]: string } = { jpg: 'image/jpeg', svg: 'image/svg+xml' }
