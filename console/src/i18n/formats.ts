import { formats as en, shortFormats } from './en/formats.ts'
import { texts } from './index.ts'
import { formats as zh } from './zh/formats.ts'

const names = texts({ en, zh })

/** Display name of a format; an unknown format is returned as it is. */
export const formatName = (format: string): string => (Object.hasOwn(names(), format) ? names()[format]! : format)

/** Short display name of a format. Vendors' terms are not translated. */
export const shortFormatName = (format: string): string =>
  Object.hasOwn(shortFormats, format) ? shortFormats[format]! : formatName(format).replace(/（.*/, '')
