import { readFileSync } from 'node:fs'
import type { Kind, Translation } from '../kit/translate.ts'
import { translate } from '../kit/translate.ts'
import type { Terminal } from './outcome.ts'

export interface TranslateOptions {
  readonly from: string
  readonly to: string
  readonly kind: Kind
  readonly model?: string
}

/** `interlingua translate --from F --to G [FILE]`: prints `{wire, losses}`. */
export function translateCommand(file: string | undefined, options: TranslateOptions, terminal: Terminal): void {
  const text = readFileSync(file === undefined || file === '-' ? 0 : file, 'utf8')
  terminal.out(JSON.stringify(translate(text, options satisfies Translation), null, 2))
}
