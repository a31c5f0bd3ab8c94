import { join } from 'node:path'
import { PROMPT, SCENARIOS } from '../scenarios.ts'
import type { Client, Command } from './client.ts'
import { BUDGETED, thinkingOf } from './thinking.ts'

/* Libraries that are not agents. A short program with two tools runs each of them (../programs). */

interface Library extends Pick<Client, 'name' | 'package' | 'model' | 'scenarios'> {
  /** Command line of the program, with the installed package. */
  run(installed: string): Command['run']
  /** Environment variables in addition to those of every program. */
  env?(installed: string): NonNullable<Command['env']>
  /** Returns the name under which the library offers a tool. The same name by default. */
  nameOf?(tool: string): string
}

/** Names of all scenarios. */
export const ALL = SCENARIOS.map(({ name }) => name)

/** Returns the path of a program that runs libraries. */
export const programAt = (name: string): string => join(import.meta.dirname, '../programs', name)

/** Creates the client of a library and its program. */
export const library = ({ run, env = () => ({}), nameOf = tool => tool, ...names }: Library): Client => ({
  ...names,
  modelAt: { 'messages-budget': BUDGETED },
  tools: [nameOf('read_file'), nameOf('write_file')],
  read: path => ({ tool: nameOf('read_file'), arguments: { path } }),
  write: (path, content) => ({ tool: nameOf('write_file'), arguments: { path, content } }),
  command: ({ address, key, model, scenario }, installed) => ({
    run: run(installed),
    env: {
      ...env(installed),
      IL_SCENARIO: scenario,
      IL_ADDRESS: address,
      IL_KEY: key,
      IL_MODEL: model,
      IL_PROMPT: PROMPT,
      IL_THINKING: JSON.stringify(thinkingOf(model)),
    },
  }),
})
