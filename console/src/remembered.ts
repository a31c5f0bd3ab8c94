import { effect, type Signal, signal } from '@preact/signals'

/** A signal whose value outlasts the visit. Where nothing can be stored, it lasts as long as the page. */
export function remembered<T extends string>(name: string, usual: T, allowed: readonly T[]): Signal<T> {
  const stored = read(name) as T | null
  const value = signal<T>(stored !== null && allowed.includes(stored) ? stored : usual)
  effect(() => write(name, value.value))
  return value
}

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
    // A browser may refuse storage.
  }
}
