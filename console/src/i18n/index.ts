import { computed, effect } from '@preact/signals'
import { remembered } from '../remembered.ts'

export const LANGUAGES = ['en', 'zh'] as const
export type Language = (typeof LANGUAGES)[number]

const preferred: Language = navigator.languages.some(one => /^zh\b/i.test(one)) ? 'zh' : 'en'

export const language = remembered<Language>('language', preferred, LANGUAGES)

effect(() => {
  document.documentElement.lang = language.value === 'zh' ? 'zh-Hans' : 'en'
})

/**
 * The texts of one part of the page: `const text = texts({ en, zh })`, then `text().create`. What is read while a
 * component renders follows the language. Both languages have one type, so that none can lack a text.
 */
export const texts =
  <T extends object>(both: { readonly [L in Language]: T }): (() => T) =>
  () =>
    both[language.value]

/** The language for the browser's own formats of numbers and times. */
export const locale = computed(() => (language.value === 'zh' ? 'zh-CN' : 'en-GB'))
