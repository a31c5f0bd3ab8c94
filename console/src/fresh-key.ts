import { signal } from '@preact/signals'

/** The key created last, for the client settings on the Start page. In memory only: a reload deletes it. */
export const freshKey = signal<{ readonly name: string; readonly secret: string } | undefined>(undefined)
