import { Option } from 'commander'
import type { Terminal } from './outcome.ts'

/** A command line option that has a new name. The old name still works. */
interface OldOption {
  readonly old: string
  readonly now: string
  /** Version that introduced the new name. */
  readonly since: string
  /** Version that removes the old name. */
  readonly removed: string
}

/** All options that have a new name, as listed in docs/operations.md. */
export const OLD_OPTIONS = [
  { old: '--door', now: '--caller', since: '0.1.0', removed: '1.0.0' },
  { old: '--listen', now: '--port', since: '0.1.0', removed: '1.0.0' },
] as const satisfies readonly OldOption[]

type OldName = (typeof OLD_OPTIONS)[number]['old']

/** Creates an option for the old name, hidden from the help. Using the old name prints a warning. */
export function oldOption<T>(
  name: OldName,
  { argument, parse, terminal }: { argument: string; parse: (text: string) => T; terminal: Terminal },
): Option {
  const { old, now, since, removed } = OLD_OPTIONS.find(one => one.old === name)!
  return new Option(`${old} <${argument}>`).hideHelp().argParser(text => {
    terminal.fault(`warning: ${old} is ${now} since ${since}, and will be removed in ${removed}`)
    return parse(text)
  })
}

/** Moves the values of old options to the new options. */
export function withNewNames<O extends object>(options: O): O {
  const optionValues = { ...options } as { [name: string]: unknown }
  for (const { old, now } of OLD_OPTIONS) {
    const [from, to] = [old.slice(2), now.slice(2)]
    if (optionValues[from] !== undefined) optionValues[to] = optionValues[from]
    delete optionValues[from]
  }
  return optionValues as O
}
