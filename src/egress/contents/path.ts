import type { ContentsDialect } from './dialect.ts'

/**
 * The path of a method. Google's cloud has the API version and the project in its base address; the Gemini API has the
 * version here.
 *
 * @param prefix what stood before the model where the caller uses this same format.
 */
export function pathOf(model: string, method: string, { vertex }: ContentsDialect, prefix?: string): string {
  const fits = prefix !== undefined && (!vertex || prefix.includes('/publishers/'))
  return `${fits ? prefix : vertex ? '/models/' : '/v1beta/models/'}${encoded(model)}:${method}`
}

const PLAIN = /^[\w.-]+$/

/** Slashes stay as they are, unless an empty segment could be dropped. */
function encoded(model: string): string {
  if (PLAIN.test(model)) return model
  const whole = encodeURIComponent(model.toWellFormed()).replaceAll('%3A', ':')
  return model.split('/').includes('') ? whole : whole.replaceAll('%2F', '/')
}
