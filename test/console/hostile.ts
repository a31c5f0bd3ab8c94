import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { withEscapedControls } from '../../src/canonical/text.ts'

/** Texts that would run as markup or script if they were not escaped. They would set `harmed`. */
export const HOSTILE = [
  '<img src=x onerror="window.harmed=1">',
  '"><script>window.harmed=1</script>',
  "javascript:window.harmed=1//'",
  '{{constructor.constructor("window.harmed=1")()}}',
  '\u202Egnp.\u2066<svg/onload=window.harmed=1>',
] as const

/** Returns a text as pages show it: characters that nobody sees are escapes, as in the output of commands. */
export const shownText = withEscapedControls

/** Checks that no hostile text became an element or ran. */
export async function isUnharmed(page: Page): Promise<void> {
  expect(await page.evaluate('window.harmed')).toBeUndefined()
  const made = 'document.querySelectorAll(\'#app img[src=x], #app script, svg[onload], a[href^="javascript:"]\').length'
  expect(await page.evaluate(made)).toBe(0)
}
