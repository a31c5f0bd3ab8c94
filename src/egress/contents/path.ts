import type { ContentsDialect } from '../../formats/dialects/contents.ts'

/**
 * Returns the path of a method. For Google Cloud, the base URL already contains the API version and the project. For
 * the Gemini API, the path contains the version.
 *
 * @param prefix the path before the model, if the caller uses this format.
 */
export function pathOf(model: string, method: string, { vertex }: ContentsDialect, prefix?: string): string {
  const isUsable = prefix !== undefined && (!vertex || prefix.includes('/publishers/'))
  return `${isUsable ? prefix : vertex ? '/models/' : '/v1beta/models/'}${encodedModel(model)}:${method}`
}

const PLAIN_NAME = /^[\w.-]+$/

/**
 * Encodes the model name for a path. Slashes are kept, unless the name has an empty segment, which a proxy could
 * remove.
 */
function encodedModel(model: string): string {
  if (PLAIN_NAME.test(model)) return model
  const encodedName = encodeURIComponent(model.toWellFormed()).replaceAll('%3A', ':')
  return model.split('/').includes('') ? encodedName : encodedName.replaceAll('%2F', '/')
}
