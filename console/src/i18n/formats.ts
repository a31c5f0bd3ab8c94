import { ROWS } from '../../../src/formats/rows/index.ts'
import { language } from './index.ts'

/** Display name of a format. An unknown format is returned as it is. */
export function formatName(format: string): string {
  const name = ROWS.get(format)?.name
  return name?.[language.value] ?? name?.en ?? format
}

/** Short display name of a format. Vendors' terms are not translated. */
export const shortFormatName = (format: string): string =>
  ROWS.get(format)?.name.short ?? formatName(format).replace(/（.*/, '')
