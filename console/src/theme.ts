import { effect } from '@preact/signals'
import { remembered } from './remembered.ts'

/** Themes that can be chosen. */
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** The chosen theme, stored in the browser. */
export const theme = remembered<Theme>('theme', 'system', THEMES)

/** Applies the chosen theme to the document now and on every change. `system` follows the browser's preference. */
export const applyTheme = (): void =>
  void effect(() => {
    document.documentElement.dataset['theme'] = theme.value
  })
