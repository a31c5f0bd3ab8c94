import { signal } from '@preact/signals'

/** A key that was just made, for the settings on the page Start; gone with the page, and stored nowhere. */
export const freshKey = signal<{ readonly name: string; readonly secret: string } | undefined>(undefined)
