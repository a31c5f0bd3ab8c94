import type { Json } from '../../canonical/node.ts'
import { count, counted, flag, number, text, WrongType } from '../fields.ts'

/** How numbers and flags are said: as such in JSON, in words in a form. */
export interface Values {
  number(value: Json | undefined): number | undefined
  count(value: Json | undefined): number | undefined
  flag(value: Json | undefined): boolean | undefined
}

export const IN_JSON: Values = { number, count, flag }

export const isNumber = (said: string): boolean => said.trim() !== '' && Number.isFinite(Number(said))
export const isFlag = (said: string): boolean => /^(?:true|false)$/i.test(said)

function numberIn(value: Json | undefined): number | undefined {
  const said = text(value)
  if (said === undefined) return undefined
  if (!isNumber(said)) throw WrongType.instance
  return Number(said)
}

export const IN_FORM: Values = {
  number: numberIn,
  count: value => counted(numberIn(value)),
  flag: value => {
    const said = text(value)
    if (said === undefined) return undefined
    if (!isFlag(said)) throw WrongType.instance
    return said.toLowerCase() === 'true'
  },
}
