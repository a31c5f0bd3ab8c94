import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { hrefOf } from './href.ts'
import { remembered } from './remembered.ts'
import { ROUTES } from './routes.ts'

/** Longest pause between the keys of a sequence such as `g k`, in milliseconds. */
const PAUSE = 1500

/** Whether single-key shortcuts are on. Speech input triggers them by accident, so users can turn them off (WCAG 2.1.4). */
export const shortcuts = remembered<'on' | 'off'>('shortcuts', 'on', ['on', 'off'])
/** Whether the dialog with the shortcuts is open. */
export const helpOpen = signal(false)

interface Shortcut {
  readonly act: () => void
  /** Text in the list of shortcuts. A shortcut without one is not listed. */
  readonly label: string | undefined
}

/** Shortcuts of the open page, by key. */
const own = new Map<string, Shortcut>()
/** Time at which `g` was pressed, in milliseconds. Set while the second key of the sequence is awaited. */
let began: number | undefined

/** Hook that registers a shortcut while the component is mounted. A shortcut with a label is listed in the help. */
export function useShortcut(key: string, act: () => void, label?: string): void {
  useEffect(() => {
    const shortcut = { act, label }
    own.set(key, shortcut)
    return () => {
      if (own.get(key) === shortcut) own.delete(key)
    }
  }, [key, act, label])
}

/** Shortcuts of the open page that have a label: pairs of key and label. */
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

/** Starts handling key presses, once per page load. */
export const listenForKeys = (): void => document.addEventListener('keydown', pressed)

function pressed(event: KeyboardEvent): void {
  const { key } = event
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  // Escape leaves a search box, so that `/` and Escape enter and leave it.
  if (key === 'Escape' && event.target instanceof HTMLInputElement && event.target.dataset['search'] !== undefined)
    return event.target.blur()
  if (shortcuts.value === 'off' || isTyping(event.target) || document.querySelector('dialog[open]') !== null) return
  const isSecond = began !== undefined && performance.now() - began < PAUSE
  began = undefined
  if (isSecond ? goTo(key) : act(key)) event.preventDefault()
}

function goTo(key: string): boolean {
  const page = ROUTES.find(one => one.key === key)
  // Clicking the navigation link makes the router change the page.
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
