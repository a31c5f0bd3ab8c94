import type { Locator } from 'playwright-core'

/** Visible text of an element, with single spaces. */
export async function wordsOf(part: Locator): Promise<string> {
  await part.first().waitFor()
  return (await part.allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ')
}

/** Whether a control has the focus. */
export const isFocused = async (control: Locator): Promise<boolean> =>
  (await control.and(control.page().locator(':focus')).count()) > 0
