import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { hrefOf } from './href.ts'
import { remembered } from './remembered.ts'
import { ROUTES } from './routes.ts'

/** Milliseconds between the keys of a sequence such as `g k`. */
const PAUSE = 1500

/** Whether single keys do anything: speech input and some keyboards set them off unmeant (WCAG 2.1.4). */
export const shortcuts = remembered<'on' | 'off'>('shortcuts', 'on', ['on', 'off'])
/** Whether the list of shortcuts is open. */
export const helpOpen = signal(false)

interface Shortcut {
  readonly act: () => void
  /** What it does, as the list of shortcuts has it. */
  readonly label: string | undefined
}

/** What single keys do on the page that is open. */
const own = new Map<string, Shortcut>()
let began: number | undefined

/** A shortcut of one page, as long as the component is there; listed where it has a label. */
export function useShortcut(key: string, act: () => void, label?: string): void {
  useEffect(() => {
    const shortcut = { act, label }
    own.set(key, shortcut)
    return () => {
      if (own.get(key) === shortcut) own.delete(key)
    }
  }, [key, act, label])
}

/** The shortcuts of the page that is open: keys, and what they do. */
export const ownShortcuts = (): readonly (readonly [key: string, label: string])[] =>
  [...own].flatMap(([key, { label }]) => (label === undefined ? [] : [[key, label] as const]))

const GLOBAL: { readonly [key: string]: () => boolean } = {
  g: () => {
    began = performance.now()
    return true
  },
  '/': focusSearch,
  '?': () => (helpOpen.value = true),
}

/** Starts to listen. */
export const listenForKeys = (): void => document.addEventListener('keydown', pressed)

function pressed(event: KeyboardEvent): void {
  const { key } = event
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  // Away from a search by the same hand.
  if (key === 'Escape' && event.target instanceof HTMLInputElement && event.target.dataset['search'] !== undefined)
    return event.target.blur()
  if (shortcuts.value === 'off' || isTyping(event.target) || document.querySelector('dialog[open]') !== null) return
  const isSecond = began !== undefined && performance.now() - began < PAUSE
  began = undefined
  if (isSecond ? goTo(key) : act(key)) event.preventDefault()
}

function goTo(key: string): boolean {
  const page = ROUTES.find(one => one.key === key)
  // The link knows the router, and is what a pointer would have clicked.
  const link = page && document.querySelector<HTMLAnchorElement>(`nav a[href="${hrefOf(page.path)}"]`)
  link?.click()
  return link !== undefined && link !== null
}

function act(key: string): boolean {
  const shortcut = own.get(key)
  if (shortcut === undefined) return GLOBAL[key]?.() ?? false
  shortcut.act()
  return true
}

function focusSearch(): boolean {
  const box = [...document.querySelectorAll<HTMLInputElement>('[data-search]')].find(one => one.offsetParent !== null)
  box?.focus()
  box?.select()
  return box !== undefined
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'submit'].includes(target.type)
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
}
