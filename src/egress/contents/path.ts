import type { ContentsDialect } from '../../formats/dialects/contents.ts'

/**
 * The path of a method. Google's cloud has the API version and the project in its base address; for the Gemini API the
 * path has the version.
 *
 * @param prefix the path before the model, from a caller of this format.
 */
export function pathOf(model: string, method: string, { vertex }: ContentsDialect, prefix?: string): string {
  const fits = prefix !== undefined && (!vertex || prefix.includes('/publishers/'))
  return `${fits ? prefix : vertex ? '/models/' : '/v1beta/models/'}${encoded(model)}:${method}`
}

const PLAIN = /^[\w.-]+$/

/**
 * The model name as part of a path. Slashes stay as they are, unless the name has an empty segment, which could be
 * dropped on the way.
 */
function encoded(model: string): string {
  if (PLAIN.test(model)) return model
  const whole = encodeURIComponent(model.toWellFormed()).replaceAll('%3A', ':')
  return model.split('/').includes('') ? whole : whole.replaceAll('%2F', '/')
}
