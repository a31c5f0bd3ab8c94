import type { PlacedLoss } from '../../api/types.ts'
import { translator as en } from '../../i18n/en/translator.ts'
import { texts } from '../../i18n/index.ts'
import { translator as zh } from '../../i18n/zh/translator.ts'

export const text = texts({ en, zh })

/** What an example shows; `captions` for one without words. */
export const exampleName = (name: string): string => {
  const names = text().examplesByName
  if (Object.hasOwn(names, name)) return names[name]!
  const words = name.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export const reasonText = (reason: string): string => text().reason(reason)

/** Where a loss is, as one would write it: `messages[0].content[1].detail`; in a stream, `event 3 · usage`. */
export function placeText({ pointer_from: from, pointer_to: to, path }: PlacedLoss, isStream: boolean): string {
  const pointer = from ?? to
  if (pointer === undefined) return written(path.map(String))
  const [first = '', ...rest] = stepsOf(pointer)
  if (!isStream) return written([first, ...rest])
  const event = text().event(String(Number(first) + 1))
  return rest.length === 0 ? event : `${event} · ${written(rest)}`
}

const stepsOf = (pointer: string): readonly string[] =>
  pointer
    .slice(1)
    .split('/')
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))

const written = (steps: readonly string[]): string =>
  steps.map((step, at) => (/^\d+$/.test(step) ? `[${step}]` : at === 0 ? step : `.${step}`)).join('')
