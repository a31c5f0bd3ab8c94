import { OTHERS } from './chinese/reasons.ts'
import { LACKING } from './chinese/reasons-lacking.ts'
import { shortFormatName } from './formats.ts'
import { language } from './index.ts'

const ONLY_IN = /^only-in-([\w.-]+)$/

/** Reason code of a loss as words: `no top k` for `no-top-k`. A code without a Chinese text is shown in English. */
export function reasonText(reason: string): string {
  const english = reason.replaceAll('-', ' ')
  if (language.value !== 'zh') return english
  const chinese = LACKING[reason] ?? OTHERS[reason]
  if (chinese !== undefined) return chinese
  const only = ONLY_IN.exec(reason)?.[1]
  return only === undefined ? english : `只有 ${shortFormatName(only)} 支持`
}
