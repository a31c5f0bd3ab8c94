import type { PlacedLoss } from '../../api/types.ts'
import { translator as en } from '../../i18n/en/translator.ts'
import { texts } from '../../i18n/index.ts'
import { translator as zh } from '../../i18n/zh/translator.ts'

export const text = texts({ en, zh })

/** Title of an example: its text, or else its name in words. */
export const exampleName = (name: string): string => {
  const names = text().examplesByName
  if (Object.hasOwn(names, name)) return names[name]!
  const words = name.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Writes a loss's JSON pointer for people: `messages[0].content[1].detail`, or `event 3 · usage` in a stream. */
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
