import { afterEach } from 'vitest'

/** Returns a list whose functions are called after each test of the calling file, the last first. */
export function closingAfterEach(): (() => unknown)[] {
  const closing: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })
  return closing
}
