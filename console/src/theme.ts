import { effect } from '@preact/signals'
import { remembered } from './remembered.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export const theme = remembered<Theme>('theme', 'system', THEMES)

/** Has the page follow the chosen theme; `system` is what the browser prefers. */
export const applyTheme = (): void =>
  void effect(() => {
    document.documentElement.dataset['theme'] = theme.value
  })
