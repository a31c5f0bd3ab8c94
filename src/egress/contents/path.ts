import type { ContentsDialect } from '../../formats/dialects/contents.ts'

/**
 * Returns the path of a method. Google's cloud has the API version and the project in its base URL. For the Gemini API
 * the path contains the version.
 *
 * @param prefix the path before the model, from a caller of this format.
 */
export function pathOf(model: string, method: string, { vertex }: ContentsDialect, prefix?: string): string {
  const fits = prefix !== undefined && (!vertex || prefix.includes('/publishers/'))
  return `${fits ? prefix : vertex ? '/models/' : '/v1beta/models/'}${encoded(model)}:${method}`
}

const PLAIN = /^[\w.-]+$/

/**
 * Encodes the model name as part of a path. Slashes stay as they are, unless the name has an empty segment, which a
 * proxy could drop.
 */
function encoded(model: string): string {
  if (PLAIN.test(model)) return model
  const whole = encodeURIComponent(model.toWellFormed()).replaceAll('%3A', ':')
  return model.split('/').includes('') ? whole : whole.replaceAll('%2F', '/')
}
