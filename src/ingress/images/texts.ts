import type { Json } from '../../canonical/node.ts'
import { count, counted, flag, number, text, WrongType } from '../fields.ts'

/** Readers of numbers and flags: as such in JSON, as texts in a form. */
export interface Values {
  number(value: Json | undefined): number | undefined
  count(value: Json | undefined): number | undefined
  flag(value: Json | undefined): boolean | undefined
}

export const IN_JSON: Values = { number, count, flag }

export const isNumber = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text))
export const isFlag = (text: string): boolean => /^(?:true|false)$/i.test(text)

function numberIn(value: Json | undefined): number | undefined {
  const written = text(value)
  if (written === undefined) return undefined
  if (!isNumber(written)) throw WrongType.instance
  return Number(written)
}

export const IN_FORM: Values = {
  number: numberIn,
  count: value => counted(numberIn(value)),
  flag: value => {
    const written = text(value)
    if (written === undefined) return undefined
    if (!isFlag(written)) throw WrongType.instance
    return written.toLowerCase() === 'true'
  },
}
