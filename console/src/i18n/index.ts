import { computed, effect } from '@preact/signals'
import { remembered } from '../remembered.ts'

/** Languages of the console. */
export const LANGUAGES = ['en', 'zh'] as const
export type Language = (typeof LANGUAGES)[number]

const preferred: Language = navigator.languages.some(one => /^zh\b/i.test(one)) ? 'zh' : 'en'

/** Chosen language, stored in the browser; Chinese by default if the browser lists it. */
export const language = remembered<Language>('language', preferred, LANGUAGES)

effect(() => {
  document.documentElement.lang = language.value === 'zh' ? 'zh-Hans' : 'en'
})

/**
 * Returns a function that gives one part's texts in the current language: `const text = texts({ en, zh })`, then
 * `text().create`. A component that calls it renders again when the language changes. Both languages have the same
 * type, so a missing text is a type error.
 */
export const texts =
  <T extends object>(both: { readonly [L in Language]: T }): (() => T) =>
  () =>
    both[language.value]

/** Locale for formatting numbers and times. */
export const locale = computed(() => (language.value === 'zh' ? 'zh-CN' : 'en-GB'))
