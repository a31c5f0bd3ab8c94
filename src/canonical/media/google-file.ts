/**
 * Returns true if only Google can read a file, because it is in the Files API or in Google's storage, or its URI is not
 * a URL (docs/wire/contents.md).
 */
export const isGoogleFile = (uri: string): boolean =>
  !/^https?:/i.test(uri) || /^https:\/\/generativelanguage\.googleapis\.com\/.*files\//i.test(uri)
