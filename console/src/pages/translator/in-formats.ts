import type { Translations } from '../../api/types.ts'
import { listed } from './marks.ts'
import { rangesIn, rangesInEvents } from './places.ts'
import { FORMATS } from './source.tsx'
import type { InFormat } from './written.tsx'

/** Translations of the text by format, in the order of the formats' rows. */
export function inFormats({ formats, kind }: Translations, given: string): readonly InFormat[] {
  const pointers = Object.values(formats).flatMap(({ losses = [] }) => losses.flatMap(one => one.pointer_from ?? []))
  const ranges = (kind === 'events' ? rangesInEvents : rangesIn)(given, pointers)
  const rank = (format: string): number => {
    const at = FORMATS.indexOf(format)
    return at < 0 ? FORMATS.length : at
  }
  return Object.entries(formats)
    .map(([format, { text, path, losses = [], error }]) => ({
      ...{ format, written: text, path, error },
      losses: listed(format, losses, ranges),
    }))
    .sort((one, other) => rank(one.format) - rank(other.format))
}

/** Number of losses of a format that are not quiet. */
export const loudIn = ({ losses }: InFormat): number => losses.filter(({ quiet }) => !quiet).length
