import { formats as en, shortFormats } from './en/formats.ts'
import { texts } from './index.ts'
import { formats as zh } from './zh/formats.ts'

const names = texts({ en, zh })

/** What a format is called; an unknown one by its own name. */
export const formatName = (format: string): string => (Object.hasOwn(names(), format) ? names()[format]! : format)

/** The same where there is little room; vendors' own words are not translated. */
export const shortFormatName = (format: string): string =>
  Object.hasOwn(shortFormats, format) ? shortFormats[format]! : formatName(format).replace(/（.*/, '')
