import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'

/** Whether pages are written instead of compared (`npm run golden`). */
export const UPDATE = process.env['UPDATE'] === '1'

/**
 * Expects the section of a page between `<!-- name -->` and `<!-- /name -->` to equal this text, or writes the text
 * there.
 */
export function expectSection(path: string, name: string, text: string): void {
  const page = readFileSync(path, 'utf8')
  const begin = `<!-- ${name} -->`
  const from = page.indexOf(begin)
  const to = page.indexOf(`<!-- /${name} -->`)
  if (from < 0 || to < from) throw new Error(`${path} has no section ${begin}`)
  const fresh = `${page.slice(0, from + begin.length)}\n${text}${page.slice(to)}`
  if (UPDATE) writeFileSync(path, fresh)
  else expect(page).toBe(fresh)
}
