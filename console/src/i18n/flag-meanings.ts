import { FLAGS } from './chinese/flags.ts'
import { language } from './index.ts'

/**
 * Returns the meaning of a dialect flag in the console's language, and that language. Falls back to the gateway's
 * English text.
 */
export function flagMeaning(name: string, english: string): { readonly lang: string; readonly text: string } {
  const chinese = language.value === 'zh' ? FLAGS[name] : undefined
  return chinese === undefined ? { lang: 'en', text: english } : { lang: 'zh-Hans', text: chinese }
}
