import { formats as en } from './en/formats.ts'
import { texts } from './index.ts'
import { formats as zh } from './zh/formats.ts'

const names = texts({ en, zh })

/** What a format is called; an unknown one by its own name. */
export const formatName = (format: string): string => (Object.hasOwn(names(), format) ? names()[format]! : format)
