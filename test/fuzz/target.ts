import type { Json } from '../../src/canonical/node.ts'
import type { Dice } from './dice.ts'

/** A reader that is fuzzed. */
export interface Target {
  readonly name: string
  /** What the inputs are, for the list of targets. */
  readonly inputs: string
  /** Matches the files whose coverage counts as that of the reader, and whose words inputs get. */
  readonly files: RegExp
  /** CPU time that 100 kB may take, in milliseconds, if it is not the usual one. */
  readonly time?: number
  /** Returns inputs to begin with, from fixtures and generators. */
  seeds(seed: number): readonly Json[]
  /** Runs the reader. Throws for everything but the reader's declared refusal. */
  run(input: Json, watch: Watch): void | Promise<void>
}

/** What a run shows to the oracles. */
export interface Watch {
  /** Random values that depend on the input alone, such as where a stream is cut. */
  readonly dice: Dice
  /** An error text that a caller or an operator sees. */
  said(text: string): void
  /** An error text that quotes the operator's own file, names and values, so that it may have what is wrong there. */
  quoted(text: string): void
  /** A value that the reader returned. It must be linear in the input, and have ordinary prototypes. */
  returned(value: unknown): void
  /** Runs work that belongs to a check and not to the reader, without measuring its time. */
  unmeasured<T>(work: () => T): T
  /** State that the reader retains until its next input. It must be linear in the input. */
  retained(state: unknown): void
}

/** A law that an input breaks. */
export class Broken extends Error {
  readonly law: string

  constructor(law: string, message: string) {
    super(message)
    this.law = law
  }
}

/** @throws Broken if the values differ as JSON. */
export function expectSame(law: string, got: unknown, want: unknown): void {
  if (JSON.stringify(got) === JSON.stringify(want)) return
  const [left, right] = [got, want].map(value => JSON.stringify(sorted(value)) ?? '')
  if (left === right) return
  let from = 0
  while (left![from] === right![from]) from++
  const near = (text: string) => text.slice(Math.max(0, from - 60), from + 100)
  throw new Broken(law, `got …${near(left!)}… instead of …${near(right!)}…`)
}

/** Returns the value as JSON has it, with fields in alphabetical order. */
function sorted(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null), (_, field) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  )
}
