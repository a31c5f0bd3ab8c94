import { useState } from 'preact/hooks'

/** Texts typed into pages, by name. They outlive a change of the page and an ended session, but not a reload. */
const drafts = new Map<string, unknown>()
/** User who typed them. */
let owner: string | undefined
let forgetting: ReturnType<typeof setTimeout> | undefined

/** Forgets all texts. */
function forget(): void {
  drafts.clear()
  clearTimeout(forgetting)
  forgetting = undefined
}

/**
 * Keeps the texts of a user whose session ended for a while, in case the same user signs in again.
 *
 * @param forMs time for which they are kept, in milliseconds. 0 if the user signed out.
 */
export function keepDrafts(forMs: number): void {
  if (forMs === 0) forget()
  else forgetting ??= setTimeout(forget, forMs)
}

/** Notes who is signed in. The next user of this browser tab must not see the texts of the one before. */
export function noteOwner(name: string): void {
  clearTimeout(forgetting)
  forgetting = undefined
  if (name !== owner) forget()
  owner = name
}

/** Hook like `useState` for a text that the user types into a page. */
export function useDraft<T>(name: string, initial: T): readonly [T, (value: T) => void] {
  const [value, setValue] = useState<T>((drafts.get(name) as T | undefined) ?? initial)
  const set = (next: T): void => {
    drafts.set(name, next)
    setValue(next)
  }
  return [value, set]
}
