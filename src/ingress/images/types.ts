/** The media type of the format's name for a file format. */
export const mediaTypeOfName = (name: string): string => (Object.hasOwn(OTHERS, name) ? OTHERS[name]! : `image/${name}`)

const OTHERS: { readonly [name: string]: string } = { jpg: 'image/jpeg', svg: 'image/svg+xml' }
