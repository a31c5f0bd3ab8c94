import { effect, type Signal, signal } from '@preact/signals'

/** Creates a signal stored in `localStorage`. If the browser refuses storage, the value lasts until a reload. */
export function remembered<T extends string>(name: string, usual: T, allowed: readonly T[]): Signal<T> {
  const stored = read(name) as T | null
  const value = signal<T>(stored !== null && allowed.includes(stored) ? stored : usual)
  effect(() => write(name, value.value))
  return value
}

/** Prefix of the keys in `localStorage`. */
const KEY = 'interlingua.'

function read(name: string): string | null {
  try {
    return localStorage.getItem(KEY + name)
  } catch {
    return null
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(KEY + name, value)
  } catch {
    // Browsers may refuse storage. The value then stays in memory.
  }
}
