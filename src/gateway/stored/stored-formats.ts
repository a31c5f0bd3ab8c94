import type { Format, JsonObject } from '../../canonical/node.ts'
import { INTERACTIONS } from './interactions-format.ts'
import { RESPONSES } from './responses-format.ts'
import type { StoredFormat } from './stored-format.ts'

const FORMATS: ReadonlyMap<Format, StoredFormat> = new Map([RESPONSES, INTERACTIONS].map(row => [row.format, row]))

/** Returns true if answers of a format are stored. */
export const isStored = (format: Format): boolean => FORMATS.has(format)

/** Returns the row of a format, or undefined if answers of the format are not stored. */
export const storedFormatOf = (format: Format): StoredFormat | undefined => FORMATS.get(format)

/** Returns the format of a stored answer. */
export const formatOfAnswer = ({ object }: JsonObject): StoredFormat =>
  object === 'interaction' ? INTERACTIONS : RESPONSES
