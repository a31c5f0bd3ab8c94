import { afterEach } from 'vitest'

/** Registers for the calling file that whatever is added to the returned list is closed after each test, the last first. */
export function closingAfterEach(): (() => unknown)[] {
  const closing: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })
  return closing
}
