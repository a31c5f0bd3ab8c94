import { FLAGS } from './chinese/flags.ts'
import { language } from './index.ts'

/** Meaning of a dialect flag with the language it is in. The gateway sends the English one. */
export function flagMeaning(name: string, english: string): { readonly lang: string; readonly text: string } {
  const chinese = language.value === 'zh' ? FLAGS[name] : undefined
  return chinese === undefined ? { lang: 'en', text: english } : { lang: 'zh-Hans', text: chinese }
}
